// The host's side of prefetch.cu.
// SPDX-License-Identifier: Apache-2.0
#include "job.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <vector>

namespace {

constexpr int64_t kImages = 20000;
constexpr int64_t kImageShape[] = {kImages, 64, 64, 3};
constexpr int64_t kImageBytes = 64 * 64 * 3;

bool usage() {
  std::fprintf(stderr,
               "usage: example_cuda_prefetch [--device N] [--batches N] [--work N] [URI [TRANSFORM]]\n");
  return false;
}

// A whole number from `least` on.
bool number(const char* text, int64_t least, int64_t* out) {
  char* end = nullptr;
  *out = std::strtoll(text, &end, 10);
  return end != text && *end == '\0' && *out >= least && *out <= 1000000;
}

// Images of a plain linear congruential generator: the same in every run.
Dataset make_images() {
  std::vector<uint8_t> bytes(static_cast<size_t>(kImages * kImageBytes));
  uint64_t state = 1;
  for (uint8_t& byte : bytes) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    byte = static_cast<uint8_t>(state >> 56);
  }
  dl_array array = {};
  array.struct_size = sizeof array;
  array.name = "image";
  array.dtype = DL_DTYPE_U8;
  array.rank = 4;
  array.shape = kImageShape;
  array.axes = "HWC";
  array.data = bytes.data();
  dl_error error = DL_ERROR_INIT;
  dl_dataset* dataset = nullptr;
  check(dl_dataset_from_arrays(&array, 1, nullptr, nullptr, nullptr, &dataset, &error), error);  // copied
  return Dataset(dataset);
}

}  // namespace

bool parse(int argc, char** argv, Job* job) {
  int64_t device = 0;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const bool flag = word == "--device" || word == "--batches" || word == "--work";
    if (flag && ++i == argc) return usage();
    if (word == "--device") {
      if (!number(argv[i], 0, &device)) return usage();
    } else if (flag) {
      if (!number(argv[i], 1, word == "--work" ? &job->work : &job->batches)) return usage();
    } else if (word.rfind("--", 0) == 0 || !job->transform.empty()) {
      return usage();
    } else {
      (job->uri.empty() ? job->uri : job->transform) = word;
    }
  }
  job->device = static_cast<int>(device);
  return true;
}

void check(dl_status status, const dl_error& error) {
  if (status < 0) throw std::runtime_error(error.message);
  if (status != DL_OK) throw std::runtime_error(dl_status_name(status));
}

Dataset open_dataset(const Job& job) {
  if (job.uri.empty()) return make_images();
  dl_error error = DL_ERROR_INIT;
  dl_dataset* dataset = nullptr;
  check(dl_dataset_open(job.uri.c_str(), nullptr, &dataset, &error), error);
  return Dataset(dataset);
}

Loader make_loader(const Job& job, dl_dataset* dataset, const std::string& device) {
  const std::string transform = job.uri.empty() ? "image: normalize(imagenet), chw" : job.transform;
  const std::string settings[][2] = {{"device", device},
                                     {"batch_size", "256"},
                                     {"shuffle", "full"},
                                     {"seed", "1"},
                                     {"transform", transform}};
  dl_error error = DL_ERROR_INIT;
  dl_options* raw = nullptr;
  check(dl_options_create(&raw, &error), error);
  const Options options(raw);
  for (const auto& setting : settings) {
    check(dl_options_set(raw, setting[0].c_str(), setting[1].c_str(), &error), error);
  }
  dl_loader* loader = nullptr;
  check(dl_loader_create(dataset, raw, &loader, &error), error);
  return Loader(loader);
}

dl_batch* next_batch(dl_loader* loader) {
  dl_error error = DL_ERROR_INIT;
  dl_batch* batch = nullptr;
  dl_status status = DL_END_OF_EPOCH;
  while (status == DL_END_OF_EPOCH) status = dl_loader_next(loader, -1, &batch, &error);
  check(status, error);
  return batch;
}

dl_stats stats_of(const dl_loader* loader) {
  dl_stats stats = {};
  stats.struct_size = sizeof stats;
  dl_error error = DL_ERROR_INIT;
  check(dl_loader_stats(loader, &stats, &error), error);
  return stats;
}

unsigned long long host_sum(dl_loader* loader) {
  dl_batch* batch = next_batch(loader);
  int32_t count = 0;
  const dl_view* views = dl_batch_views(batch, &count);
  unsigned long long sum = 0;
  for (int32_t i = 0; i < count; ++i) {
    const dl_view& view = *dl_view_at(views, i);
    const auto* bytes = static_cast<const unsigned char*>(view.data) + view.byte_offset;
    const int64_t words = view.bytes / 4;
    for (int64_t k = 0; k < words; ++k) {
      uint32_t word = 0;
      std::memcpy(&word, bytes + 4 * k, sizeof word);
      sum += word;
    }
    for (int64_t k = 4 * words; k < view.bytes; ++k) sum += bytes[k];
  }
  dl_batch_release(batch);
  return sum;
}
