// Threads of the library: named, all signals but SIGBUS blocked, started or refused with a status. And the clocks.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pthread.h>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "core/base/status.h"

namespace dataline {

// Joins on destruction unless detached.
class Thread {
 public:
  Thread() = default;
  // `body` must not throw. kThread when the system refuses; nothing runs then. Name: up to 15 bytes.
  static Result<Thread> start(std::string_view name, std::function<void()> body);
  Thread(Thread&& other) noexcept { *this = std::move(other); }
  Thread& operator=(Thread&& other) noexcept;
  ~Thread() { join(); }

  void join() noexcept;
  void detach() noexcept;                       // the body goes on alone: it must own what it uses
  void forget() noexcept { running_ = false; }  // in a forked child, where the thread does not exist
  bool joinable() const { return running_; }
  int64_t cpu_ns() const;  // CPU time used so far; 0 when it cannot be told

 private:
  pthread_t handle_{};
  bool running_ = false;
};

int64_t monotonic_ns();
int64_t thread_cpu_ns();

}  // namespace dataline
