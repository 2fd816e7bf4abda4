// Rows of 784 bytes in batches of 256, as Dataline and bare threads load them: what every row of such rows shares.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "bench/end_to_end/bare.h"
#include "bench/end_to_end/files.h"
#include "bench/end_to_end/job.h"
#include "bench/end_to_end/row.h"

namespace bench {

constexpr int64_t kRowBytes = 784;
constexpr int64_t kRowBatchSize = 256;
constexpr int64_t kRowSlotCount = 8;  // Dataline's defaults: prefetch_depth 4 + max_leases 4

// The .npy file of them, mapped.
struct Rows {
  std::string file;
  std::shared_ptr<Mapping> map;
  const std::byte* base = nullptr;
};
Rows open_rows(const Settings& settings, int64_t count);

// Shuffled, in batches of kRowBatchSize.
std::shared_ptr<Job> shuffled_job(const std::string& uri, int workers, const OptionList& more = {});
Variant job_variant(int workers, std::shared_ptr<Job> job, const std::string& from = "");

GatherWork gather_work(const Rows& rows, const std::vector<uint32_t>& order);
// `rows`: what keeps the bytes that `work` names.
Variant bare_variant(const GatherWork& work, int threads, const std::string& from,
                     std::shared_ptr<void> rows);

}  // namespace bench
