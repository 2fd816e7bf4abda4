// Ctrl-C, SIGTERM and SIGHUP as a request to end in good order: the first one cancels the library's waits
// and breaks a blocked write; a second one ends the program at once.
//
// The signals are blocked in every thread and taken by one that waits for them, so no handler runs our
// code. Signals that are ignored when the program starts (nohup, background jobs) stay ignored.
//
// Threads: made by main() before any other thread; the rest any thread.
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
  int signal() const { return signal_.load(); }  // 0: none came
  bool came() const { return signal() != 0; }
  // A write that was in progress when the signal came may take this long to end.
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
