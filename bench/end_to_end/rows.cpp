// Shuffled rows of 784 bytes, hot, batches of 256: as stored, and normalised to f32.
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstring>

#include "bench/end_to_end/u8_rows.h"

namespace bench {

namespace {

constexpr float kMean = 0.1307f;  // normalize(mnist)
constexpr float kDeviation = 0.3081f;

// The same from memory in 2 MiB pages, like io=memory and host arrays.
void add_rows_in_memory(const Rows& rows, const std::vector<uint32_t>& order, int64_t count,
                        std::vector<Variant>& variants) {
  auto copy = std::make_shared<HugeBuffer>(count * kRowBytes);
  std::memcpy(copy->data(), rows.base, static_cast<size_t>(count * kRowBytes));
  for (const int workers : {0, 1, 2})
    variants.push_back(
        job_variant(workers, shuffled_job("npy:" + rows.file, workers, {{"io", "memory"}}), "memory "));
  GatherWork work = gather_work(rows, order);
  work.base = copy->data();
  for (const int threads : {1, 2}) variants.push_back(bare_variant(work, threads, "memory ", copy));
}

// Dataline and bare threads take turns on the same rows in the same order.
std::vector<Variant> rows_u8(const Settings& settings, int64_t count) {
  const Rows rows = open_rows(settings, count);
  std::vector<Variant> variants;
  std::vector<uint32_t> order;
  for (const int workers : {0, 1, 2}) {
    auto job = shuffled_job("npy:" + rows.file, workers);
    const std::vector<uint32_t> delivered =
        job->checked_epoch([&](const dl_view* views, int64_t row, int64_t sample) {
          return std::memcmp(row_data(views[0], row), rows.base + sample * kRowBytes, kRowBytes) == 0;
        });
    if (!order.empty() && order != delivered) fail("the order depends on num_workers");
    order = delivered;
    variants.push_back(job_variant(workers, std::move(job)));
  }
  for (const int threads : {1, 2})
    variants.push_back(bare_variant(gather_work(rows, order), threads, "", rows.map));
  constexpr int64_t kMostInMemory = 100'000;
  if (count <= kMostInMemory) add_rows_in_memory(rows, order, count, variants);
  variants.push_back(
      {"memcpy", [rows, count](const std::string& name, double seconds, Report& report) {
         const Throughput done =
             bare_memcpy(rows.base, count * kRowBytes, kRowBatchSize * kRowBytes, kRowSlotCount, seconds);
         report.set(name, "gb_per_s", static_cast<double>(done.bytes) / static_cast<double>(done.elapsed_ns));
       }});
  return variants;
}

bool normalized_row_matches(const dl_view& view, int64_t row, const std::byte* stored) {
  const auto* values = reinterpret_cast<const float*>(row_data(view, row));
  for (int64_t i = 0; i < kRowBytes; ++i) {
    const float wanted = (static_cast<float>(static_cast<uint8_t>(stored[i])) / 255.0f - kMean) / kDeviation;
    if (std::fabs(values[i] - wanted) > 1e-5f) return false;
  }
  return true;
}

}  // namespace

std::vector<Variant> rows_u8_47mb(const Settings& settings) {
  return rows_u8(settings, settings.small ? 6'000 : 60'000);
}

std::vector<Variant> rows_u8_4700mb(const Settings& settings) {
  return rows_u8(settings, settings.small ? 70'000 : 6'000'000);
}

std::vector<Variant> rows_f32(const Settings& settings) {
  const Rows rows = open_rows(settings, settings.small ? 6'000 : 60'000);
  std::vector<Variant> variants;
  std::vector<uint32_t> order;
  for (const int workers : {0, 1, 2}) {
    auto job = shuffled_job("npy:" + rows.file, workers, {{"transform", "normalize(mnist)"}});
    order = job->checked_epoch([&](const dl_view* views, int64_t row, int64_t sample) {
      return normalized_row_matches(views[0], row, rows.base + sample * kRowBytes);
    });
    variants.push_back(job_variant(workers, std::move(job)));
  }
  auto bare = std::make_shared<BareNormalize>(gather_work(rows, order), 1.0f / (255.0f * kDeviation),
                                              -kMean / kDeviation);
  variants.push_back(
      {"bare normalise 1", [bare, map = rows.map](const std::string& name, double seconds, Report& report) {
         report_throughput(report, name, bare->run(seconds));
       }});
  return variants;
}

// The trainer's side: computes for a millisecond on each batch.
std::vector<Variant> consumer_1ms(const Settings& settings) {
  const Rows rows = open_rows(settings, settings.small ? 6'000 : 60'000);
  std::vector<Variant> variants;
  for (const int workers : {0, 1, 2}) {
    auto job = shuffled_job("npy:" + rows.file, workers, {{"transform", "normalize(mnist)"}});
    variants.push_back({"dataline w" + std::to_string(workers),
                        [job = std::move(job)](const std::string& name, double seconds, Report& report) {
                          report_throughput(report, name, consume_computing(*job, seconds, 1'000'000));
                        }});
  }
  return variants;
}

}  // namespace bench
