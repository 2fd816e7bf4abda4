// A cancel token: one thread requests cancellation, long work and waits in others observe it.
// Threads: internally synchronized.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "core/base/atomic.h"
#include "core/base/thread_mutex.h"

namespace dataline {

class CancelToken {
 public:
  // Woken by cancel(). Must outlive its registration.
  class Listener {
   public:
    virtual ~Listener() = default;
    virtual void on_cancel() noexcept = 0;  // called under the token's lock: must not block
  };

  // Relaxed: the flag publishes no other data; waits are woken through on_cancel().
  bool cancelled() const { return cancelled_.load(std::memory_order_relaxed); }

  void cancel() noexcept {
    ThreadLock lock(mutex_);
    cancelled_.store(true, std::memory_order_relaxed);
    for (Listener* listener : listeners_) listener->on_cancel();
  }

  void attach(Listener* listener) {
    ThreadLock lock(mutex_);
    listeners_.push_back(listener);
    if (cancelled()) listener->on_cancel();
  }

  void detach(Listener* listener) noexcept {
    ThreadLock lock(mutex_);
    std::erase(listeners_, listener);
  }

 private:
  Atomic<bool> cancelled_{false};
  ThreadMutex mutex_;
  std::vector<Listener*> listeners_ DL_GUARDED_BY(mutex_);
};

using CancelTokenRef = std::shared_ptr<CancelToken>;  // null: cannot be cancelled

}  // namespace dataline
