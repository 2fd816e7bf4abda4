// A mutex for short holds: it spins a moment before it sleeps, because a futex sleep costs more than most holds last. And
// how to write down what it guards and which functions need it: clang checks that (-Wthread-safety), other compilers see
// nothing.
// Threads: that is what it is for.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mutex>

#include "core/base/atomic.h"

#if defined(__clang__)
#define DL_THREAD_ANNOTATION(x) __attribute__((x))
#else
#define DL_THREAD_ANNOTATION(x)
#endif

// Of types: a lock, and an object that holds one for its scope.
#define DL_CAPABILITY(name) DL_THREAD_ANNOTATION(capability(name))
#define DL_SCOPED_CAPABILITY DL_THREAD_ANNOTATION(scoped_lockable)
// Of data: the lock under which it is read and written.
#define DL_GUARDED_BY(lock) DL_THREAD_ANNOTATION(guarded_by(lock))
// Of functions: called with, called without; takes, gives back, takes if it returns `result`.
#define DL_REQUIRES(...) DL_THREAD_ANNOTATION(requires_capability(__VA_ARGS__))
#define DL_EXCLUDES(...) DL_THREAD_ANNOTATION(locks_excluded(__VA_ARGS__))
#define DL_ACQUIRE(...) DL_THREAD_ANNOTATION(acquire_capability(__VA_ARGS__))
#define DL_RELEASE(...) DL_THREAD_ANNOTATION(release_capability(__VA_ARGS__))
#define DL_TRY_ACQUIRE(...) DL_THREAD_ANNOTATION(try_acquire_capability(__VA_ARGS__))

namespace dataline {

class DL_CAPABILITY("mutex") ThreadMutex {
 public:
  void lock() DL_ACQUIRE() {
    for (int i = 0; i < kSpins; ++i) {
      if (mutex_.try_lock()) return;
      spin_pause();
    }
    mutex_.lock();
  }
  bool try_lock() DL_TRY_ACQUIRE(true) { return mutex_.try_lock(); }
  void unlock() DL_RELEASE() { mutex_.unlock(); }

 private:
  // About a microsecond: several times what next() and release() hold it for.
  static constexpr int kSpins = kThreadsScheduled ? 0 : 100;
  PlainMutex mutex_;
};

// Holds a mutex for its scope; may give it back and take it again in between. To lock only what is free:
//   if (!mutex.try_lock()) return;
//   ThreadLock lock(mutex, std::adopt_lock);
// A function that is called under a mutex (DL_REQUIRES) and gives it back for a while calls the mutex itself,
// `mutex_.unlock(); ... mutex_.lock();`: clang cannot follow a ThreadLock that is handed on.
class DL_SCOPED_CAPABILITY ThreadLock {
 public:
  explicit ThreadLock(ThreadMutex& mutex) DL_ACQUIRE(mutex) : mutex_(&mutex) { mutex.lock(); }
  ThreadLock(ThreadMutex& mutex, std::adopt_lock_t) DL_REQUIRES(mutex) : mutex_(&mutex) {}
  ~ThreadLock() DL_RELEASE() {
    if (held_) mutex_->unlock();
  }
  ThreadLock(const ThreadLock&) = delete;
  ThreadLock& operator=(const ThreadLock&) = delete;

  void lock() DL_ACQUIRE() {
    mutex_->lock();
    held_ = true;
  }
  void unlock() DL_RELEASE() {
    mutex_->unlock();
    held_ = false;
  }

 private:
  ThreadMutex* mutex_;
  bool held_ = true;
};

}  // namespace dataline
