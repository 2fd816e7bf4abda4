// Ctrl-C, SIGTERM and SIGHUP. The first one cancels the library's waits and interrupts a blocked write, so that the command can
// clean up; the second ends the program at once.
//
// The signals are blocked in every thread, and one thread waits for them, so none of our code runs in a signal handler. Signals
// that were ignored when the program started (nohup, background jobs) stay ignored. On Windows Ctrl-C, Ctrl-Break and the
// closing of the console come on a thread of the system's (windows/interrupts.cpp).
//
// Threads: constructed by main() before any other thread; the rest any thread.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <memory>

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
  struct System;  // what receives the signals
  void note(int signal);

  CancelToken token_;
  std::atomic<int> signal_{0};
  std::atomic<std::chrono::steady_clock::time_point> deadline_{};
  std::unique_ptr<System> system_;
};

}  // namespace dataline::cli
