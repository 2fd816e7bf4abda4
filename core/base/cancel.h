// A cancel token: one thread requests cancellation, long work and waits in others observe it.
// Threads: internally synchronized.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "core/base/atomic.h"
#include "core/base/thread_mutex.h"

namespace dataline {

// Not 0: nobody wants what is being read any more. The host's callbacks look at it as a word, atomically.
using CancelFlag = Atomic<int32_t>;
static_assert(kThreadsScheduled || sizeof(CancelFlag) == sizeof(int32_t));
inline const CancelFlag kNeverCancelled{0};
inline const int32_t* word_of(const CancelFlag& flag) { return reinterpret_cast<const int32_t*>(&flag); }

class CancelToken {
 public:
  // Woken by cancel(). Must outlive its registration.
  class Listener {
   public:
    virtual ~Listener() = default;
    virtual void on_cancel() noexcept = 0;  // called under the token's lock: must not block
  };

  CancelToken() = default;
  // Cancelled with `other` (may be null), too.
  explicit CancelToken(std::shared_ptr<CancelToken> other) : other_(std::move(other)) {
    if (other_ != nullptr) other_->attach(&follower_);
  }
  CancelToken(const CancelToken&) = delete;
  CancelToken& operator=(const CancelToken&) = delete;
  ~CancelToken() {
    if (other_ != nullptr) other_->detach(&follower_);
  }

  // Relaxed: the flag publishes no other data; waits are woken through on_cancel().
  bool cancelled() const { return cancelled_.load(std::memory_order_relaxed) != 0; }
  const CancelFlag& flag() const { return cancelled_; }

  void cancel() noexcept {
    ThreadLock lock(mutex_);
    cancelled_.store(1, std::memory_order_relaxed);
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
  class Follower final : public Listener {
   public:
    explicit Follower(CancelToken& self) : self_(self) {}
    void on_cancel() noexcept override { self_.cancel(); }

   private:
    CancelToken& self_;
  };

  const std::shared_ptr<CancelToken> other_;
  Follower follower_{*this};
  CancelFlag cancelled_{0};
  ThreadMutex mutex_;
  std::vector<Listener*> listeners_ DL_GUARDED_BY(mutex_);
};

using CancelTokenRef = std::shared_ptr<CancelToken>;  // null: cannot be cancelled

}  // namespace dataline
