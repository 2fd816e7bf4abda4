// When threads work, help and sleep. None of it changes what is delivered; each rule is here because some row of bench/
// loses without it (ratios to the row with it; two cores of an Intel Xeon guest, bench/results/2026-11-23-heuristics.md):
//
//   a waiting consumer fills short runs itself        rows of 784 bytes, one worker 2.2, two 4.8; a batch of 4 bytes 11
//   workers beyond the CPUs rest while it does        rows of 784 bytes, two workers 1.5
//   a worker wakes by itself, at the consumer's pace  a consumer of 1 ms a batch waits 5.6 times as long (two workers)
//   nobody is woken while enough batches are Ready    the same 2.5, one worker 1.7
//   small batches are opened several at a time        256 x 4 bytes, one worker 1.1 to 1.2
//
// (A thread's own batches and slots: see batch_window.h.)
// Threads: internally synchronized, relaxed throughout: hints about the past, no data hangs on them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "core/base/atomic.h"
#include "core/base/thread.h"
#include "core/base/thread_wait.h"

namespace dataline {

// How long a run takes. A consumer helps where that is less than a wait would be noticed: its deadline may be late by one
// run.
class RunClock {
 public:
  void add(int64_t took_ns) {
    const int64_t mean_ns = mean_ns_.load(std::memory_order_relaxed);
    mean_ns_.store(mean_ns == kNotMeasured ? took_ns : mean_ns + (took_ns - mean_ns) / 4,
                   std::memory_order_relaxed);
  }
  bool short_runs() const { return mean_ns_.load(std::memory_order_relaxed) <= kShortRunNs; }

 private:
  static constexpr int64_t kNotMeasured = INT64_MAX;
  static constexpr int64_t kShortRunNs = 50'000;
  Atomic<int64_t> mean_ns_{kNotMeasured};
};

// Whether the consumer often waits: more than one batch in nine of late was not Ready when it was asked for. It fills runs
// then, on its own CPU, and a worker beyond the CPUs would only push it or another worker off one, in the middle of a run.
class WaitShare {
 public:
  // By the consumer, with each batch.
  void add(bool waited) {
    const int32_t score = score_.load(std::memory_order_relaxed);
    const int32_t now = waited ? std::min(score + 8, kMaxScore) : std::max(score - 1, 0);
    if (now != score) score_.store(now, std::memory_order_relaxed);
  }
  bool high() const { return score_.load(std::memory_order_relaxed) > kHighScore; }

 private:
  static constexpr int32_t kHighScore = 8, kMaxScore = 32;
  Atomic<int32_t> score_{0};
};

// The consumer's pace, as one worker sees it each time that it goes to sleep. Waking a worker costs the consumer a system
// call, 8 us in a guest, and the worker is up 40 us later. So a worker sleeps only until half of the window will have
// been taken if the consumer keeps its pace.
class ConsumerPace {
 public:
  // When to wake. kForever when nothing was taken since the last time: a consumer that stands still is not looked after.
  int64_t wake_at(int64_t head, int64_t window_depth) {
    const int64_t now_ns = monotonic_ns();
    const int64_t passed_ns = now_ns - std::exchange(seen_ns_, now_ns);
    const int64_t taken = head - std::exchange(seen_head_, head);
    const int64_t half = window_depth / 2;
    if (passed_ns == now_ns || taken <= 0 || half == 0) return kForever;
    // Smoothed, because `taken` is a small whole number.
    span_ns_ += passed_ns - span_ns_ / 4;
    batches_ += static_cast<double>(taken) - batches_ / 4;
    const double wait_ns = static_cast<double>(span_ns_) * static_cast<double>(half) / batches_;
    return now_ns + static_cast<int64_t>(std::min(wait_ns, kMaxWaitNs));
  }

 private:
  static constexpr double kMaxWaitNs = 1e15;
  int64_t seen_ns_ = 0, seen_head_ = 0;
  int64_t span_ns_ = 0;  // of late, in which
  double batches_ = 0;   // so many were taken
};

}  // namespace dataline
