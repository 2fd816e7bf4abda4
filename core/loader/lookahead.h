// Exact read-ahead for cold storage: the order says which records come next, so they are requested before they are needed.
// While records are in the page cache it costs one check every few runs.
//
// Where the order draws samples from blocks of neighbours (shuffle=window), whole blocks are requested instead, each in one
// long read: BlockLookahead says which are due.
//
// Threads: internally synchronized; called by every worker.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>

#include "core/base/atomic.h"
#include "core/base/checked.h"
#include "core/order/order.h"
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

// The sweep over an epoch's steps for which blocks have been requested (Order::Sweep). It runs ahead of the steps that are
// filled by those in which a block's samples are drawn, and kBlocksAhead more. A new sweep begins as far behind, since blocks
// there are still open, and catches up: with its first run by kBlocksAtOnce, so that the first batch is not late, then by as
// much as it has swept so far, up to kBlocksBehind. Meanwhile the records of the first batches are requested one by one,
// far from each other, which a drive reads many times slower than blocks: so that has to end after a few runs, also where
// hundreds of blocks are open.
class BlockLookahead {
 public:
  static constexpr int64_t kBlocksAhead = 4;
  static constexpr int64_t kBlocksAtOnce = 2;
  static constexpr int64_t kBlocksBehind = 32;  // at once, to catch up: a run must not wait longer

  struct Job {
    int64_t steps_per_block = 0;    // Order::steps_per_block(); 0: no blocks
    int64_t records_per_block = 1;  // Order::records_per_block()
    int64_t steps = 0;              // of an epoch
    int64_t rows = 1;               // of a step, whose blocks are requested
  };

  // Claims steps [sweep.from, sweep.to) of the epoch for a run of step `step`. False: none is due. `behind`: blocks of the
  // step's own samples may not have been requested.
  bool claim(const Job& job, int64_t epoch, int64_t step, Order::Sweep& sweep, bool& behind) {
    const int64_t usual = steps_for(job, kBlocksAtOnce), most = steps_for(job, kBlocksBehind);
    const int64_t needed = std::min(step + job.steps_per_block, job.steps);  // by the step's own samples
    const int64_t target = std::min(step + job.steps_per_block + steps_for(job, kBlocksAhead), job.steps);
    const std::optional<int64_t> begin = checked_multiply(epoch, job.steps);
    if (!begin || *begin > std::numeric_limits<int64_t>::max() - job.steps) return false;  // beyond all jobs
    const int64_t epoch_begin = *begin;
    // Relaxed: hints; nothing is published through it.
    int64_t done = done_.load(std::memory_order_relaxed);
    int64_t from = 0, to = 0;
    do {
      if (done > epoch_begin + job.steps) return false;  // of a later epoch
      const bool begins = done <= epoch_begin;
      from = begins ? std::max<int64_t>(step - job.steps_per_block, 0) : done - epoch_begin;
      const int64_t swept = begins ? 0 : done - begun_.load(std::memory_order_relaxed);
      const bool late = from < needed;
      to = std::min(from + (late ? std::clamp(swept, usual, most) : usual), target);
      if (from >= to || (!late && to < job.steps && to - from < usual)) return false;
    } while (!done_.compare_exchange_weak(done, epoch_begin + to, std::memory_order_relaxed));
    sweep.now = step;
    sweep.from = from;
    sweep.to = to;
    sweep.begins = done <= epoch_begin;
    if (sweep.begins) begun_.store(epoch_begin + from, std::memory_order_relaxed);
    behind = to < needed;
    return true;
  }
  void restart() { done_.store(0, std::memory_order_relaxed); }

 private:
  static int64_t steps_for(const Job& job, int64_t blocks) {
    return std::max<int64_t>(blocks * job.records_per_block / std::max<int64_t>(job.rows, 1), 1);
  }

  Atomic<int64_t> done_{0};  // steps swept since epoch 0
  // Where the sweep began; a thread that reads the last one's claims more, or less, at once.
  Atomic<int64_t> begun_{0};
};

}  // namespace dataline
