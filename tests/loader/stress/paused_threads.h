// Pauses the library's threads at random instructions, so that interleavings a few instructions wide are met within
// seconds: every 10 us a signal goes to one of the threads, and its handler sleeps for 150 us.
//
// A program that uses it links paused_threads.cpp, which lets the signal through on threads that block all of them.
// Under the thread sanitizer, which delivers signals only inside calls it knows, pauses are at those calls alone.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

namespace dataline::tests {

// While it lives, the `count` threads of this process that are named "dataline-*" are paused.
class PausedThreads {
 public:
  PausedThreads(uint64_t seed, size_t count);
  ~PausedThreads();
  PausedThreads(const PausedThreads&) = delete;
  PausedThreads& operator=(const PausedThreads&) = delete;

  int64_t pauses() const;  // so far

 private:
  void send_signals(uint64_t seed);

  std::vector<pid_t> threads_;
  std::atomic<bool> stop_{false};
  std::thread sender_;
};

}  // namespace dataline::tests
