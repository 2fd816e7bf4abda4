// Exact look-ahead for cold storage: the order says which records come next, so they are asked for before they are
// wanted. While records are in memory it costs one residency check every few runs.
//
// Threads: internally synchronized; called by every worker.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "core/base/atomic.h"
#include "core/source/source.h"

namespace dataline {

class Lookahead {
 public:
  // Records asked for ahead of the one being read: enough to keep a device's queue full (128 to 256 reads in
  // flight measured best), few enough that the kernel still holds them when they are read.
  static constexpr int64_t kRecordsAhead = 512;

  // Asked for at once at least, where runs are shorter: asking costs a system call or two.
  static constexpr int64_t kLeastPiece = 32;

  // Looks whether storage is cold, now and then: one record of a run. Returns true while it is.
  bool observe(const Source& source, int64_t first_index) {
    // Relaxed throughout: hints; nothing is published through them.
    const int64_t cold_left = cold_runs_left_.load(std::memory_order_relaxed);
    if (cold_left == 0) {
      if (skip_.fetch_sub(1, std::memory_order_relaxed) > 0) return false;
      const int64_t every = check_every_.load(std::memory_order_relaxed);
      if (source.resident(first_index)) {
        check_every_.store(every < kSeldom ? every * 2 : kSeldom, std::memory_order_relaxed);
        skip_.store(every, std::memory_order_relaxed);
        return false;
      }
      skip_.store(0, std::memory_order_relaxed);
      check_every_.store(1, std::memory_order_relaxed);
      cold_runs_left_.store(kColdRuns, std::memory_order_relaxed);
      return true;
    }
    cold_runs_left_.store(cold_left - 1, std::memory_order_relaxed);
    return true;
  }

  // A record that nobody had asked for was not in memory.
  void stay_cold() { cold_runs_left_.store(kColdRuns, std::memory_order_relaxed); }

  // Whether nothing was asked for since the start or the last seek.
  bool fresh() const { return advised_.load(std::memory_order_relaxed) == 0; }

  // Claims the next `piece` rows from `from` on and up to `until` (counts of rows since create, over epochs). False:
  // all of it was asked for already, or, behind the caller's own `count` rows, less than a piece is left.
  bool claim(int64_t from, int64_t count, int64_t piece, int64_t until, int64_t& begin, int64_t& end) {
    int64_t done = advised_.load(std::memory_order_relaxed);
    do {
      begin = done > from ? done : from;
      if (begin >= until || (begin >= from + count && until - begin < piece)) return false;
      end = begin + piece < until ? begin + piece : until;
    } while (!advised_.compare_exchange_weak(done, end, std::memory_order_relaxed));
    return true;
  }
  // After a seek: nothing is asked for, and nothing known of the records there.
  void restart() {
    advised_.store(0, std::memory_order_relaxed);
    cold_runs_left_.store(0, std::memory_order_relaxed);
    check_every_.store(1, std::memory_order_relaxed);
    skip_.store(0, std::memory_order_relaxed);
  }

 private:
  static constexpr int64_t kSeldom = 16;     // runs between two checks while everything is in memory
  static constexpr int64_t kColdRuns = 256;  // runs after which coldness is looked at again

  Atomic<int64_t> cold_runs_left_{0};
  Atomic<int64_t> skip_{0};
  Atomic<int64_t> check_every_{1};
  Atomic<int64_t> advised_{0};
};

}  // namespace dataline
