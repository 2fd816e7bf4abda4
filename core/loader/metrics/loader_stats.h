// The counters of dl_stats, and who is asked for them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "core/base/status.h"

namespace dataline {

struct LedgerCounters {
  int64_t batches = 0, samples = 0, bytes = 0;
  int64_t skipped = 0, dropped = 0, padded = 0, replaced = 0;
  int64_t lease_copies = 0, warned = 0;
  int64_t wait_ns = 0, waits = 0;
};

struct LoaderStats {
  int32_t num_workers = 0;
  LedgerCounters ledger;
  int64_t bad = 0, worker_cpu_ns = 0, arena_bytes = 0, held_bytes = 0, budget_bytes = 0;
  int64_t leases_held = 0, ready_batches = 0, threads_abandoned = 0;
  int64_t pinned_bytes = 0, device_bytes = 0, copied_bytes = 0;
  int64_t cache_read = 0, cache_made = 0;
};

// A loader, as its metrics see it.
class StatsSource {
 public:
  // Any thread. kForked.
  virtual Result<LoaderStats> stats() const = 0;

 protected:
  ~StatsSource() = default;
};

}  // namespace dataline
