// How many batches are in flight and held.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace dataline {

enum class LeaseOverflow : int32_t { kCopy, kError, kWait };

struct WindowConfig {
  int64_t prefetch_depth = 4;  // with tune=on the limit, for which memory is planned
  int64_t start_depth = 4;     // at create
  int64_t max_leases = 4;
  LeaseOverflow lease_overflow = LeaseOverflow::kCopy;
};

}  // namespace dataline
