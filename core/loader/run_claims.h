// Which thread fills which run of a batch. The thread that opened the batch claims runs from the front, threads that join
// it claim from the back, so each stays in its own part of the slot and few cache lines move between cores.
//
// Threads: internally synchronized. One atomic operation per claim.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "core/base/atomic.h"

namespace dataline {

class RunClaims {
 public:
  enum class End { kFront, kBack };

  // Makes runs [taken, runs) claimable; earlier ones are the caller's. Release: a thread that claims a run sees everything
  // written before this call.
  void open(int64_t runs, int64_t taken) {
    runs_.store(static_cast<uint32_t>(runs), std::memory_order_relaxed);  // published by the next store
    taken_.store(static_cast<uint64_t>(taken), std::memory_order_release);
  }

  // The claimed run, or -1: there is none left.
  int64_t claim(End end) {
    // Acquire: pairs with open(). A value from an earlier batch is as good: the exchange then fails, or the counts
    // are the same and so is the run.
    uint64_t taken = taken_.load(std::memory_order_acquire);
    for (;;) {
      const uint32_t runs = runs_.load(std::memory_order_relaxed);
      const uint64_t front = taken & kFrontMask, back = taken >> kBackShift;
      if (front + back >= runs) return -1;
      const uint64_t more = end == End::kFront ? 1 : uint64_t{1} << kBackShift;
      if (!taken_.compare_exchange_weak(taken, taken + more, std::memory_order_acquire)) continue;
      return static_cast<int64_t>(end == End::kFront ? front : runs - 1 - back);
    }
  }

 private:
  static constexpr int kBackShift = 32;
  static constexpr uint64_t kFrontMask = 0xffffffff;

  Atomic<uint64_t> taken_{0};  // from the front, and from the back
  Atomic<uint32_t> runs_{0};   // the same in every batch of a loader
};

}  // namespace dataline
