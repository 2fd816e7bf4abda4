// Waiting: a place where threads wait for a condition that others make true, by a short spin while waits are short, then
// by a futex (no sleeps, no polling; on Windows WaitOnAddress); and a handle for event loops.
//
// Use of a WaitPoint: the notifier changes the state (atomically, or under a lock the condition does not need), then calls
// notify_all(). The waiter's condition reads that state; it must be cheap and must not block.
// Threads: internally synchronized. Notifying costs one atomic add when nobody sleeps.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "core/base/atomic.h"
#include "core/base/status.h"
#include "core/base/thread.h"

namespace dataline {

constexpr int64_t kForever = -1;

// When a wait of that long ends; < 0, or later than the clock can say: kForever.
int64_t deadline_after(int64_t timeout_ns);

class WaitPoint {
 public:
  // Waits until condition() or until deadline_ns (monotonic; kForever: none). Returns the last condition().
  template <typename Condition>
  bool wait(int64_t deadline_ns, Condition condition) {
    if (condition()) return true;
    if (deadline_ns == 0) return false;  // a poll
    const int64_t begin_ns = monotonic_ns();
    if (spin(begin_ns, deadline_ns, condition)) {
      learn(monotonic_ns() - begin_ns);
      return true;
    }
    for (;;) {
      // Sequentially consistent with notify_all(): either it sees this sleeper, or we see its new sequence and,
      // through it, the state it published.
      sleepers_.fetch_add(1);
      const uint32_t seen = sequence_.load();
      const bool met = condition();
      const bool expired = !met && !sleep(seen, deadline_ns);
      sleepers_.fetch_sub(1);
      if (met || condition()) {
        learn_from_wake(begin_ns);
        return true;
      }
      if (expired) return false;
    }
  }

  void notify_all() {
    sequence_.fetch_add(1);
    if (sleepers_.load() > 0) wake();
  }

 private:
  // Spinning pays while waits are shorter than what a futex wake costs; how much that is differs a hundredfold
  // between machines (a guest leaves HLT through its hypervisor), so it is measured, within these bounds.
  static constexpr int64_t kWakeCostLowNs = 2'000, kWakeCostHighNs = 25'000;
  static constexpr int kLooksBetweenClocks = kThreadsScheduled ? 1 : 16;

  // Two wakes' worth: when both sides of a hand-off sleep, each one's wait is the other's wake.
  int64_t spin_limit_ns() const {
    // Relaxed, here and in learn(): hints about the past, no data hangs on them.
    const int64_t cost = wake_cost_ns_.load(std::memory_order_relaxed);
    return 2 * (cost < kWakeCostLowNs ? kWakeCostLowNs : cost > kWakeCostHighNs ? kWakeCostHighNs : cost);
  }

  template <typename Condition>
  bool spin(int64_t begin_ns, int64_t deadline_ns, Condition& condition) {
    const int64_t limit_ns = spin_limit_ns();
    if (mean_wait_ns_.load(std::memory_order_relaxed) > limit_ns) return false;
    int64_t end_ns = begin_ns + limit_ns;
    if (deadline_ns != kForever && deadline_ns < end_ns) end_ns = deadline_ns;
    do {
      for (int i = 0; i < kLooksBetweenClocks; ++i) {
        if (condition()) return true;
        spin_pause();
      }
    } while (monotonic_ns() < end_ns);
    return false;
  }

  // One eighth of the newest wait; a long one is capped, so that a few short ones win spinning back.
  void learn(int64_t waited_ns) {
    const int64_t mean = mean_wait_ns_.load(std::memory_order_relaxed);
    const int64_t cap = 4 * spin_limit_ns();
    mean_wait_ns_.store(mean + ((waited_ns < cap ? waited_ns : cap) - mean) / 8, std::memory_order_relaxed);
  }

  // Splits a wait that slept into the time until the notifier acted and the cost of waking up.
  void learn_from_wake(int64_t begin_ns) {
    const int64_t now_ns = monotonic_ns();
    const int64_t woken_ns = wake_ns_.load(std::memory_order_relaxed);
    if (woken_ns <= begin_ns || woken_ns > now_ns) return learn(now_ns - begin_ns);
    learn(woken_ns - begin_ns);
    const int64_t cost = wake_cost_ns_.load(std::memory_order_relaxed);
    wake_cost_ns_.store(cost + (now_ns - woken_ns - cost) / 8, std::memory_order_relaxed);
  }

  bool sleep(uint32_t seen, int64_t deadline_ns);  // false: the deadline passed
  void wake();

  Atomic<uint32_t> sequence_{0};  // the futex word
  Atomic<uint32_t> sleepers_{0};
  Atomic<int64_t> mean_wait_ns_{0};
  Atomic<int64_t> wake_ns_{0};  // when somebody was woken last
  Atomic<int64_t> wake_cost_ns_{5'000};
};

// A handle for the host's event loop, signalled while raised: an eventfd on Linux, an event object on Windows.
class ThreadEvent {
 public:
  static Result<ThreadEvent> create();  // kTooManyFiles, kUnsupported
  ThreadEvent(ThreadEvent&& other) noexcept : handle_(other.handle_) { other.handle_ = -1; }
  ThreadEvent& operator=(ThreadEvent&&) = delete;
  ~ThreadEvent();

  intptr_t handle() const { return handle_; }
  void raise() const;  // stays signalled until lowered
  void lower() const;

 private:
  explicit ThreadEvent(intptr_t handle) : handle_(handle) {}
  intptr_t handle_;  // -1: none
};

}  // namespace dataline
