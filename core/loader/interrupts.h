// An interrupt that cannot be lost: it ends every wait in progress, or, when nobody waits, the next call.
//
// Protocol: raise() first, then wake those who wait. A call takes what is pending before it looks for a batch, and begins
// each Wait after it has read what its sleep compares (ConsumerGate::events).
// Threads: any; raise() also in a signal handler. Nothing here blocks.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "core/base/atomic.h"

namespace dataline {

class Interrupts {
 public:
  void raise() noexcept {
    uint64_t word = word_.load();
    while (!word_.compare_exchange_weak(word, waits(word) > 0 ? word + kRound : word | kPending)) {
    }
  }
  // True for one call, after an interrupt that nobody waited for.
  bool take_pending() noexcept {
    uint64_t word = word_.load();
    while ((word & kPending) != 0) {
      if (word_.compare_exchange_weak(word, word & ~kPending)) return true;
    }
    return false;
  }

  bool pending() const { return (word_.load() & kPending) != 0; }

  // One wait of one call. Null: of none.
  class Wait {
   public:
    explicit Wait(Interrupts* of) noexcept : of_(of) {
      if (of == nullptr) return;
      uint64_t word = of->word_.load();
      // A pending interrupt that came after the call looked is this wait's.
      while (
          !of->word_.compare_exchange_weak(word, (word & kPending) != 0 ? word & ~kPending : word + kWait)) {
      }
      interrupted_ = (word & kPending) != 0;
      waits_ = !interrupted_;
      round_ = word / kRound;
    }
    Wait(const Wait&) = delete;
    Wait& operator=(const Wait&) = delete;
    ~Wait() { end(); }

    // Whether to return without sleeping; once ended, whether the wait was interrupted.
    bool interrupted() const { return interrupted_; }
    bool end() noexcept {
      if (waits_) interrupted_ = of_->word_.fetch_sub(kWait) / kRound != round_;
      waits_ = false;
      return interrupted_;
    }

   private:
    Interrupts* const of_;
    uint64_t round_ = 0;
    bool waits_ = false, interrupted_ = false;
  };

 private:
  // One word: bit 0 pending, bits 1 to 31 the waits in progress, above them the interrupts that found any.
  static constexpr uint64_t kPending = 1, kWait = 2, kRound = uint64_t{1} << 32;
  static uint64_t waits(uint64_t word) { return word % kRound / kWait; }

  Atomic<uint64_t> word_{0};
};

}  // namespace dataline
