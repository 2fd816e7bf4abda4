// What a batch costs when there is next to nothing to copy: rows of 4 bytes in file order, batches of 1 and
// 256. SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "bench/end_to_end/files.h"
#include "bench/end_to_end/job.h"
#include "bench/end_to_end/row.h"

namespace bench {

std::vector<Variant> overhead(const Settings& settings) {
  constexpr int64_t kNumberBytes = 4;
  const std::string file =
      random_rows_file(settings.data_dir, settings.small ? 50'000 : 1'000'000, kNumberBytes);
  const auto map = std::make_shared<Mapping>(file);
  map->populate();
  std::vector<Variant> variants;
  for (const int64_t batch_size : {1, 256}) {
    for (const int workers : {0, 1}) {
      auto job = std::make_shared<Job>("npy:" + file, OptionList{{"batch_size", std::to_string(batch_size)},
                                                                 {"num_workers", std::to_string(workers)}});
      job->checked_epoch([&](const dl_view* views, int64_t row, int64_t sample) {
        return std::memcmp(row_data(views[0], row), map->data() + kNpyHeaderBytes + sample * kNumberBytes,
                           kNumberBytes) == 0;
      });
      variants.push_back({"dataline w" + std::to_string(workers) + " b" + std::to_string(batch_size),
                          [job](const std::string& name, double seconds, Report& report) {
                            report_throughput(report, name, consume(*job, seconds, 64));
                          }});
    }
  }
  return variants;
}

}  // namespace bench
