// Windows of 1,025 u16 tokens, shuffled, batches of 16, from 200 MB: as views of one row, and as two tensors.
// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "bench/end_to_end/bare.h"
#include "bench/end_to_end/files.h"
#include "bench/end_to_end/job.h"
#include "bench/end_to_end/row.h"

namespace bench {

namespace {

constexpr int64_t kLength = 1024;
constexpr int64_t kTokenBytes = 2;
constexpr int64_t kTokenBatch = 16;
constexpr int64_t kSlotCount = 8;

}  // namespace

std::vector<Variant> tokens(const Settings& settings) {
  const int64_t token_count = settings.small ? 2'000'000 : 100'000'000;
  const std::string file = random_tokens_file(settings.data_dir, token_count);
  auto map = std::make_shared<Mapping>(file);
  map->populate();
  const std::byte* base = map->data();
  std::vector<Variant> variants;
  std::vector<uint32_t> order;
  for (const bool views : {true, false}) {
    for (const int workers : {0, 1, 2}) {
      auto job =
          std::make_shared<Job>("tokens:" + file + "?dtype=u16&length=1024" + (views ? "&views=true" : ""),
                                OptionList{{"batch_size", std::to_string(kTokenBatch)},
                                           {"shuffle", "full"},
                                           {"num_workers", std::to_string(workers)}});
      order = job->checked_epoch([&](const dl_view* fields, int64_t row, int64_t sample) {
        const std::byte* window = base + sample * kLength * kTokenBytes;
        return std::memcmp(row_data(fields[0], row), window, kLength * kTokenBytes) == 0 &&
               std::memcmp(row_data(fields[1], row), window + kTokenBytes, kLength * kTokenBytes) == 0;
      });
      variants.push_back({std::string(views ? "dataline views w" : "dataline w") + std::to_string(workers),
                          [job](const std::string& name, double seconds, Report& report) {
                            report_throughput(report, name, consume(*job, seconds, 8));
                          }});
    }
  }
  for (const int threads : {1, 2}) {
    GatherWork work;
    work.base = base;
    work.stride_bytes = kLength * kTokenBytes;
    work.row_bytes = (kLength + 1) * kTokenBytes;
    work.order = order;
    work.batch_size = kTokenBatch;
    work.slot_count = kSlotCount;
    auto bare = std::make_shared<BareGather>(std::move(work), threads);
    variants.push_back({"bare gather " + std::to_string(threads),
                        [bare, map](const std::string& name, double seconds, Report& report) {
                          report_throughput(report, name, bare->run(seconds));
                          report.note(name, bare->loop_name());
                        }});
  }
  return variants;
}

}  // namespace bench
