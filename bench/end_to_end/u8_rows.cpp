// SPDX-License-Identifier: Apache-2.0
#include "bench/end_to_end/u8_rows.h"

#include <utility>

namespace bench {

Rows open_rows(const Settings& settings, int64_t count) {
  Rows rows;
  rows.file = random_rows_file(settings.data_dir, count, kRowBytes);
  rows.map = std::make_shared<Mapping>(rows.file);
  rows.map->populate();
  rows.base = rows.map->data() + kNpyHeaderBytes;
  return rows;
}

std::shared_ptr<Job> shuffled_job(const std::string& uri, int workers, const OptionList& more) {
  OptionList options = {{"batch_size", std::to_string(kRowBatchSize)},
                        {"shuffle", "full"},
                        {"num_workers", std::to_string(workers)}};
  options.insert(options.end(), more.begin(), more.end());
  return std::make_shared<Job>(uri, options);
}

Variant job_variant(int workers, std::shared_ptr<Job> job, const std::string& from) {
  return {"dataline " + from + "w" + std::to_string(workers),
          [job = std::move(job)](const std::string& name, double seconds, Report& report) {
            report_throughput(report, name, consume(*job, seconds));
          }};
}

GatherWork gather_work(const Rows& rows, const std::vector<uint32_t>& order) {
  GatherWork work;
  work.base = rows.base;
  work.stride_bytes = kRowBytes;
  work.row_bytes = kRowBytes;
  work.order = order;
  work.batch_size = kRowBatchSize;
  work.slot_count = kRowSlotCount;
  return work;
}

Variant bare_variant(const GatherWork& work, int threads, const std::string& from,
                     std::shared_ptr<void> rows) {
  auto bare = std::make_shared<BareGather>(work, threads);
  return {"bare gather " + from + std::to_string(threads),
          [bare, rows = std::move(rows)](const std::string& name, double seconds, Report& report) {
            report_throughput(report, name, bare->run(seconds));
            report.note(name, bare->loop_name());
          }};
}

}  // namespace bench
