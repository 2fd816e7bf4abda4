// Exact read-ahead for cold storage: the order says which records come next, so they are requested before they are needed.
// While records are in the page cache it costs one check every few runs.
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
  // Records requested ahead of the one being read: enough to keep a drive's queue full (128 to 256 reads in flight measured
  // best), few enough that they are still in the page cache when they are read.
  static constexpr int64_t kRecordsAhead = 512;

  // Minimum per request where runs are shorter: a request costs a system call or two.
  static constexpr int64_t kMinPiece = 32;

  // Checks one record of a run, now and then, and returns whether storage is cold.
  bool observe(const Source& source, int64_t first_index) {
    // Relaxed throughout: hints; nothing is published through them.
    const int64_t cold_left = cold_runs_left_.load(std::memory_order_relaxed);
    if (cold_left == 0) {
      if (skip_.fetch_sub(1, std::memory_order_relaxed) > 0) return false;
      const int64_t every = check_every_.load(std::memory_order_relaxed);
      if (source.cached(first_index)) {
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

  // A record that had not been requested was not in the page cache.
  void stay_cold() { cold_runs_left_.store(kColdRuns, std::memory_order_relaxed); }

  // Whether nothing has been requested since the start or the last seek.
  bool fresh() const { return advised_.load(std::memory_order_relaxed) == 0; }

  // Claims the next `piece` rows in [from, until) (rows are counted since create, across epochs). False: all of them have
  // been requested, or less than a piece is left after the caller's own `count` rows.
  bool claim(int64_t from, int64_t count, int64_t piece, int64_t until, int64_t& begin, int64_t& end) {
    int64_t done = advised_.load(std::memory_order_relaxed);
    do {
      begin = done > from ? done : from;
      if (begin >= until || (begin >= from + count && until - begin < piece)) return false;
      end = begin + piece < until ? begin + piece : until;
    } while (!advised_.compare_exchange_weak(done, end, std::memory_order_relaxed));
    return true;
  }
  // After a seek: nothing has been requested, and the state of the records there is unknown.
  void restart() {
    advised_.store(0, std::memory_order_relaxed);
    cold_runs_left_.store(0, std::memory_order_relaxed);
    check_every_.store(1, std::memory_order_relaxed);
    skip_.store(0, std::memory_order_relaxed);
  }

 private:
  static constexpr int64_t kSeldom = 16;     // runs between checks while everything is cached
  static constexpr int64_t kColdRuns = 256;  // runs after which a cold file is checked again

  Atomic<int64_t> cold_runs_left_{0};
  Atomic<int64_t> skip_{0};
  Atomic<int64_t> check_every_{1};
  Atomic<int64_t> advised_{0};
};

}  // namespace dataline
