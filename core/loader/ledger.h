// The accounts of a job: what was delivered, skipped and replaced, and every bad sample by name.
//
// Invariant: per rank, delivered + skipped + dropped = its slots of the epochs passed through.
// Threads: externally synchronized (the loader's lock).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <unordered_set>
#include <vector>

#include "core/base/status.h"
#include "core/batch/slot.h"
#include "core/source/source.h"

namespace dataline {

struct BadSample {
  Code code = Code::kOk;
  int64_t source = 0, index = 0;          // sample_name()
  int64_t epoch = 0, step = 0, slot = 0;  // where it was first seen
  int64_t replacement = -1;
  std::string message;
};

struct LedgerCounters {
  int64_t batches = 0, samples = 0, bytes = 0;
  int64_t skipped = 0, dropped = 0, padded = 0, replaced = 0;
  int64_t lease_copies = 0, warned = 0;
  int64_t wait_ns = 0, waits = 0;
};

struct Ledger : LedgerCounters {
  std::vector<BadSample> bad;  // distinct, in order of delivery

  // Records a slot's bad rows, in row order. Returns false if more than max_bad (-1: no limit) distinct samples are bad
  // now.
  bool book_bad_rows(Slot& slot, const Source& source, int64_t max_bad);
  const LedgerCounters& counters() const { return *this; }

 private:
  std::unordered_set<int64_t> known_;  // records of bad
};

// What dl_stats tells.
struct LoaderStats {
  int32_t num_workers = 0;
  LedgerCounters ledger;
  int64_t bad = 0, worker_cpu_ns = 0, arena_bytes = 0, held_bytes = 0, budget_bytes = 0;
  int64_t leases_held = 0, ready_batches = 0, threads_abandoned = 0;
  int64_t pinned_bytes = 0, device_bytes = 0, copied_bytes = 0;
  int64_t cache_read = 0, cache_made = 0;
};

// "step 12: 3 of 256 samples are bad: sample 17: ...; sample 40: ..."
Status bad_step_error(const Slot& slot, const Source& source, const std::vector<BadRow>& rows);

}  // namespace dataline
