// What ends a wait of next(): a batch that becomes Ready, a lease that comes back, a cancel, an interrupt. Also the wait
// handle for event loops, which is readable while next() would not wait.
//
// Protocol: whoever changes what a consumer waits for changes the state first and then calls wake() or batch_ready();
// a consumer reads events() before it looks at the state, and waits only while events() stays the same.
// Threads: internally synchronized; nothing here blocks but wait().
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "core/base/atomic.h"
#include "core/base/cancel.h"
#include "core/base/thread_wait.h"
#include "core/loader/interrupts.h"

namespace dataline {

class ConsumerGate {
 public:
  // Recomputes whether the handle is readable. Only called once a handle exists.
  class Listener {
   public:
    virtual ~Listener() = default;
    virtual void refresh_handle() noexcept = 0;
  };
  explicit ConsumerGate(Listener& listener) : listener_(&listener) {}

  bool cancelled() const { return cancelled_.load() != 0; }
  const CancelFlag& cancel_flag() const { return cancelled_; }  // for the host's reads
  void cancel() noexcept { raise(kByCall); }
  void cancel_by_token() noexcept { raise(kByToken); }
  void clear_cancel() { cancelled_.fetch_and(~kByCall); }  // a cancelled token stays cancelled

  // Of all consumers, or of one loop's.
  void interrupt(Interrupts& of) noexcept {
    of.raise();
    wake();
    // The next call returns it, so it would not wait.
    if (has_handle_.load() && interrupts_.pending()) event_->raise();
  }
  Interrupts& interrupts() { return interrupts_; }  // of all consumers

  // For everything that may end a wait except that the head batch becomes Ready.
  void wake() {
    events_.fetch_add(1);
    ready_.notify_all();
  }
  uint32_t events() const { return events_.load(); }

  // The head batch is Ready.
  void batch_ready() { ready_.notify_all(); }
  // A batch is Ready or slots came back: the handle may have to become readable.
  void refresh_handle() noexcept {
    if (has_handle_.load()) listener_->refresh_handle();
  }

  template <typename Condition>
  bool wait(int64_t deadline_ns, Condition condition) {
    return ready_.wait(deadline_ns, condition);
  }

  // The handle, made at the first call. By one thread at a time, as the two below. kTooManyFiles, kUnsupported.
  Result<intptr_t> handle() {
    if (!event_) {
      DL_ASSIGN_OR_RETURN(ThreadEvent event, ThreadEvent::create());
      event_.emplace(std::move(event));
      has_handle_.store(true);
    }
    return event_->handle();
  }
  // To say anew whether the handle is readable: lower it, look, raise it if next() would not wait. A cancel, or a batch that
  // becomes Ready in between, raises it again. False: there is no handle.
  bool lower_handle() {
    if (event_) event_->lower();
    return event_.has_value();
  }
  void raise_handle() { event_->raise(); }

 private:
  static constexpr int32_t kByCall = 1, kByToken = 2;

  void raise(int32_t by) noexcept {
    cancelled_.fetch_or(by);
    ready_.notify_all();
    if (has_handle_.load()) event_->raise();
  }

  Listener* const listener_;
  WaitPoint ready_;
  Atomic<uint32_t> events_{0};
  Interrupts interrupts_;
  CancelFlag cancelled_{0};
  Atomic<bool> has_handle_{false};  // publishes event_
  std::optional<ThreadEvent> event_;
};

}  // namespace dataline
