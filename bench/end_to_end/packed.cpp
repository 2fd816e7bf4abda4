// Rows of 2,048 u16 tokens made of documents, shuffled, batches of 8: beside plain windows of the same file, which need only be
// copied, and beside memcpy of as many bytes as packed rows have (14 a token, where the file has 2).
// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "bench/end_to_end/bare.h"
#include "bench/end_to_end/files.h"
#include "bench/end_to_end/job.h"
#include "bench/end_to_end/row.h"

namespace bench {

namespace {

constexpr int64_t kLength = 2048, kPackedBatch = 8, kSlotCount = 8;
constexpr int64_t kPackedBytes = kLength * (2 + 4 + 4 + 4);

int32_t number_at(const std::byte* from, int64_t index) {
  int32_t value = 0;
  std::memcpy(&value, from + index * 4, sizeof value);
  return value;
}

// Of a row: targets are the tokens that follow, up to the end of each document.
bool follows(const dl_view* fields, int64_t row) {
  const std::byte *x = row_data(fields[0], row), *y = row_data(fields[1], row),
                  *segment = row_data(fields[2], row), *position = row_data(fields[3], row);
  for (int64_t t = 0; t < kLength; ++t) {
    uint16_t token = 0, next = 0;
    std::memcpy(&token, x + t * 2, 2);
    if (t + 1 < kLength) std::memcpy(&next, x + (t + 1) * 2, 2);
    const bool ends = token == 0;  // a document, or padding
    if ((number_at(y, t) == -100) != ends) return false;
    const bool goes_on = t + 1 < kLength && number_at(segment, t) == number_at(segment, t + 1);
    if (goes_on && number_at(position, t + 1) != number_at(position, t) + 1) return false;
    if (goes_on && !ends && number_at(y, t) != next) return false;
  }
  return true;
}

}  // namespace

std::vector<Variant> packed(const Settings& settings) {
  const std::string file = documents_file(settings.data_dir, settings.small ? 2'000'000 : 100'000'000);
  std::vector<Variant> variants;
  int64_t rows = 0;
  for (const std::string kind : {"windows", "concat", "best_fit"}) {
    const std::string uri =
        kind == "windows"
            ? "tokens:" + file + "?dtype=u16&length=2048"
            : "tokens:" + file + "?dtype=u16&documents=eot:0&pack_length=2048&pack_method=" + kind;
    for (const int workers : {0, 1}) {
      auto job = std::make_shared<Job>(uri, OptionList{{"batch_size", std::to_string(kPackedBatch)},
                                                       {"shuffle", "full"},
                                                       {"num_workers", std::to_string(workers)}});
      job->checked_epoch([&](const dl_view* fields, int64_t row, int64_t) {
        return kind == "windows" || follows(fields, row);
      });
      if (kind == "concat") rows = dl_dataset_count(job->dataset());
      variants.push_back({"dataline " + kind + " w" + std::to_string(workers),
                          [job](const std::string& name, double seconds, Report& report) {
                            report_throughput(report, name, consume(*job, seconds, 8));
                          }});
    }
  }
  // Rows of that size that lie in memory, in a shuffled order.
  auto data = std::make_shared<HugeBuffer>(rows * kPackedBytes);
  GatherWork work;
  work.base = data->data();
  work.stride_bytes = work.row_bytes = kPackedBytes;
  for (int64_t i = 0; i < rows; ++i) work.order.push_back(static_cast<uint32_t>(i * 7919 % rows));
  work.batch_size = kPackedBatch;
  work.slot_count = kSlotCount;
  auto bare = std::make_shared<BareGather>(std::move(work), 1);
  variants.push_back({"bare gather 1", [bare, data](const std::string& name, double seconds, Report& report) {
                        report_throughput(report, name, bare->run(seconds));
                        report.note(name, bare->loop_name());
                      }});
  return variants;
}

}  // namespace bench
