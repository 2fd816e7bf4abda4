// Ctrl-C, SIGTERM and SIGHUP. The first one cancels the library's waits and interrupts a blocked write, so that the command can
// clean up; the second ends the program at once.
//
// The signals are blocked in every thread, and one thread waits for them, so none of our code runs in a signal handler. Signals
// that were ignored when the program started (nohup, background jobs) stay ignored.
//
// Threads: constructed by main() before any other thread; the rest any thread.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pthread.h>
#include <signal.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "bindings/cli/handles.h"

namespace dataline::cli {

class Interrupts {
 public:
  Interrupts();
  ~Interrupts();
  Interrupts(const Interrupts&) = delete;
  Interrupts& operator=(const Interrupts&) = delete;

  dl_cancel_token* token() const { return token_.get(); }
  int signal() const { return signal_.load(); }  // 0: none
  bool came() const { return signal() != 0; }
  // How long a write that is in progress when the signal comes may take.
  bool overdue() const { return came() && std::chrono::steady_clock::now() > deadline_.load(); }

 private:
  void watch();

  sigset_t watched_{};
  pthread_t main_thread_;
  CancelToken token_;
  std::atomic<int> signal_{0};
  std::atomic<std::chrono::steady_clock::time_point> deadline_{};
  std::atomic<bool> ending_{false};
  std::thread watcher_;
};

}  // namespace dataline::cli
