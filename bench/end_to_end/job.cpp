// Dataline as a program uses it: owning handles over dataline.h, and the consumer's loop.
// SPDX-License-Identifier: Apache-2.0
#include "bench/end_to_end/job.h"

#include <algorithm>

namespace bench {

namespace {

void check(dl_status status, const dl_error& error) {
  if (status < 0) fail(std::string(dl_status_name(status)) + ": " + error.message);
}

dl_options* made_options(const OptionList& list) {
  dl_error error = DL_ERROR_INIT;
  dl_options* options = nullptr;
  check(dl_options_create(&options, &error), error);
  for (const auto& [key, value] : list) {
    check(dl_options_set(options, key.c_str(), value.c_str(), &error), error);
  }
  return options;
}

}  // namespace

Job::Job(const DatasetMaker& make, const OptionList& options) : options_(made_options(options)) {
  dl_error error = DL_ERROR_INIT;
  check(make(options_, &dataset_, &error), error);
  check(dl_loader_create(dataset_, options_, &loader_, &error), error);
}

Job::Job(const std::string& uri, const OptionList& options, const dl_allocator* allocator,
         const std::string& plugin)
    : options_(made_options(options)) {
  dl_error error = DL_ERROR_INIT;
  if (allocator != nullptr) check(dl_options_set_allocator(options_, allocator, &error), error);
  if (!plugin.empty()) {
    dl_extensions* extensions = nullptr;
    check(dl_extensions_create(&extensions, &error), error);
    check(dl_extensions_load(extensions, plugin.c_str(), &error), error);
    check(dl_options_set_extensions(options_, extensions, &error), error);
    dl_extensions_destroy(extensions);
  }
  check(dl_dataset_open(uri.c_str(), options_, &dataset_, &error), error);
  check(dl_loader_create(dataset_, options_, &loader_, &error), error);
}

Job::~Job() {
  dl_loader_destroy(loader_);
  dl_dataset_destroy(dataset_);
  dl_options_destroy(options_);
}

dl_batch* Job::next() {
  dl_error error = DL_ERROR_INIT;
  dl_batch* batch = nullptr;
  dl_status status = dl_loader_next(loader_, -1, &batch, &error);
  while (status == DL_END_OF_EPOCH) status = dl_loader_next(loader_, -1, &batch, &error);
  check(status, error);
  if (batch == nullptr) fail(std::string("no batch: ") + dl_status_name(status));
  return batch;
}

std::vector<uint32_t> Job::checked_epoch(const std::function<bool(const dl_view*, int64_t, int64_t)>& same) {
  const auto count = static_cast<size_t>(dl_dataset_count(dataset_));
  std::vector<uint32_t> order;
  order.reserve(count);
  std::vector<bool> seen(count);
  dl_error error = DL_ERROR_INIT;
  dl_batch* batch = nullptr;
  dl_status status = DL_OK;
  while ((status = dl_loader_next(loader_, -1, &batch, &error)) == DL_OK) {
    int32_t fields = 0;
    const dl_view* views = dl_batch_views(batch, &fields);
    dl_batch_info info{};
    info.struct_size = sizeof info;
    check(dl_batch_get_info(batch, &info, &error), error);
    for (int64_t row = 0; row < info.samples; ++row) {
      const int64_t sample = info.sample_indices[row];
      if (sample < 0 || static_cast<size_t>(sample) >= count || seen[static_cast<size_t>(sample)]) {
        fail("sample " + std::to_string(sample) + " out of range or delivered twice");
      }
      seen[static_cast<size_t>(sample)] = true;
      if (!same(views, row, sample)) fail("sample " + std::to_string(sample) + " has wrong bytes");
      order.push_back(static_cast<uint32_t>(sample));
    }
    dl_batch_release(batch);
  }
  check(status, error);
  if (status != DL_END_OF_EPOCH) fail(std::string("the epoch ended with ") + dl_status_name(status));
  if (order.size() != count)
    fail(std::to_string(order.size()) + " samples delivered of " + std::to_string(count));
  return order;
}

int64_t batch_rows(const dl_batch* batch) {
  dl_error error = DL_ERROR_INIT;
  dl_batch_info info = {};
  info.struct_size = sizeof info;
  if (dl_batch_get_info(batch, &info, &error) != DL_OK) fail(error.message);
  return info.valid;
}

int64_t batch_bytes(const dl_batch* batch) {
  int32_t fields = 0;
  const dl_view* views = dl_batch_views(batch, &fields);
  int64_t bytes = 0;
  for (int32_t field = 0; field < fields; ++field) bytes += views[field].bytes;
  return bytes;
}

void skip(Job& job, int64_t batches) {
  for (int64_t i = 0; i < batches; ++i) dl_batch_release(job.next());
}

Throughput consume(Job& job, double seconds, int64_t batches_per_look) {
  Throughput done;
  const int64_t begin = now_ns();
  const int64_t cpu_begin = process_cpu_ns();
  const int64_t deadline = begin + static_cast<int64_t>(seconds * 1e9);
  do {
    for (int64_t i = 0; i < batches_per_look; ++i) {
      dl_batch* batch = job.next();
      done.rows += batch_rows(batch);
      done.bytes += batch_bytes(batch);
      dl_batch_release(batch);
    }
    done.batches += batches_per_look;
  } while (now_ns() < deadline);
  done.elapsed_ns = now_ns() - begin;
  done.cpu_ns = process_cpu_ns() - cpu_begin;
  return done;
}

namespace {

// Sums the batch repeatedly until `until_ns`: computes instead of sleeping.
void compute_on(const dl_view& view, int64_t until_ns) {
  const auto* values = static_cast<const uint32_t*>(view.data);
  const int64_t count = view.bytes / 4;
  uint32_t sum = 0;
  int64_t at = 0;
  while (now_ns() < until_ns) {
    for (int64_t end = std::min(at + 4096, count); at < end; ++at) sum += values[at];
    if (at >= count) at = 0;
  }
  keep(sum);
}

}  // namespace

Throughput consume_computing(Job& job, double seconds, int64_t compute_ns) {
  Throughput done;
  const int64_t begin = now_ns();
  const int64_t cpu_begin = process_cpu_ns();
  const int64_t deadline = begin + static_cast<int64_t>(seconds * 1e9);
  int64_t asked = begin;
  for (;;) {
    dl_batch* batch = job.next();
    const int64_t got = now_ns();
    done.wait_ns += got - asked;
    ++done.batches;
    done.rows += batch_rows(batch);
    done.bytes += batch_bytes(batch);
    int32_t fields = 0;
    compute_on(dl_batch_views(batch, &fields)[0], got + compute_ns);
    asked = now_ns();
    dl_batch_release(batch);
    if (asked >= deadline) break;
  }
  done.elapsed_ns = now_ns() - begin;
  done.cpu_ns = process_cpu_ns() - cpu_begin;
  return done;
}

}  // namespace bench
