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
#include "core/loader/metrics/loader_stats.h"
#include "core/source/source.h"

namespace dataline {

struct BadSample {
  Code code = Code::kOk;
  int64_t source = 0, index = 0;          // sample_name()
  int64_t epoch = 0, step = 0, slot = 0;  // where it was first seen
  int64_t replacement = -1;
  std::string message;
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

// "step 12: 3 of 256 samples are bad: sample 17: ...; sample 40: ..."
Status bad_step_error(const Slot& slot, const Source& source, const std::vector<BadRow>& rows);

}  // namespace dataline
