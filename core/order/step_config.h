// The requested steps of a job. Only Steps reads them, and answers everyone else.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "core/order/steps.h"

namespace dataline {

struct StepConfig {
  std::vector<int64_t> global_batches = {
      32};  // rows of a full step over all ranks, > 0; with buckets one per bucket
  LastBatch last_batch = LastBatch::kKeep;
  int64_t rank = 0, world_size = 1;
};

}  // namespace dataline
