// A mutex for short holds: it spins a moment before it sleeps, because a futex sleep costs more than most holds last.
// Threads: that is what it is for.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mutex>

namespace dataline {

class ThreadMutex {
 public:
  void lock() {
    // About a microsecond: several times what next() and release() hold it for.
    for (int i = 0; i < 100; ++i) {
      if (mutex_.try_lock()) return;
      pause();
    }
    mutex_.lock();
  }
  bool try_lock() { return mutex_.try_lock(); }
  void unlock() { mutex_.unlock(); }

 private:
  static void pause() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
  }
  std::mutex mutex_;
};

}  // namespace dataline
