// Threads of the library: named, all signals but SIGBUS blocked, started or refused with a status; or threads that the host
// lends (ThreadHooks). And the clocks.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pthread.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "core/base/status.h"

namespace dataline {

// What the host does when a thread begins and ends, or the host itself as the one who runs it. Called from any thread.
class ThreadHooks {
 public:
  virtual ~ThreadHooks() = default;
  virtual void on_start(int32_t worker, const char* name) const noexcept = 0;
  virtual void on_end(int32_t worker) const noexcept = 0;
  virtual bool runs() const noexcept = 0;  // threads are the host's: run() starts them
  // Has main(argument) run once, on another thread. 0, or an error number: it will not run.
  virtual int32_t run(int32_t worker, const char* name, void (*main)(void*),
                      void* argument) const noexcept = 0;
};

// A thread has at least this much stack; where the system gives more, all of that. musl gives 128 KiB, twice what a worker needs
// for itself (tests/loader/images/stack_test.cpp), but readers and operators of the host's run there too. Only what is touched is
// memory.
constexpr size_t kLeastStackBytes = size_t{1} << 20;

// Joins on destruction unless detached.
class Thread {
 public:
  Thread() = default;
  // `body` must not throw. kThread when the system, or the host, refuses; nothing runs then. Name: up to 15 bytes.
  static Result<Thread> start(std::string_view name, std::function<void()> body,
                              std::shared_ptr<const ThreadHooks> hooks = nullptr, int32_t worker = 0);
  Thread(Thread&& other) noexcept { *this = std::move(other); }
  Thread& operator=(Thread&& other) noexcept;
  ~Thread() { join(); }

  // True when the host has not begun to run the body yet: it never will, and its captures are gone.
  bool withdraw() noexcept;
  void join() noexcept;
  void detach() noexcept;                       // the body goes on alone: it must own what it uses
  void forget() noexcept { running_ = false; }  // in a forked child, where the thread does not exist
  bool joinable() const { return running_; }
  int64_t cpu_ns()
      const;  // CPU time used so far; 0 when it cannot be told, as of a thread that is the host's

 private:
  struct Hosted;
  static Result<Thread> start_hosted(std::string name, std::function<void()> body,
                                     const std::shared_ptr<const ThreadHooks>& hooks, int32_t worker);

  pthread_t handle_{};
  std::shared_ptr<Hosted> hosted_;  // instead, on a thread of the host's
  bool running_ = false;
};

// Calls body(true) here and meanwhile body(false) on `threads - 1` others, and returns when all have returned. The bodies take
// their work from a place that they share: where the system starts fewer threads, fewer do the same. `body` must not throw.
void run_in_threads(std::string_view name, int64_t threads, const std::function<void(bool here)>& body);

int64_t monotonic_ns();
int64_t thread_cpu_ns();
// The same clock as monotonic_ns(), up to kCoarseNs late, for a fifth of the cost.
int64_t coarse_ns();
constexpr int64_t kCoarseNs = 10'000'000;  // a kernel with 100 ticks a second

// What the system knows of a thread of this process, alive or not.
struct ThreadTimes {
  int64_t cpu_ns = 0;
  int64_t queued_ns = 0;  // it could have run, and had no CPU
};
int64_t this_thread_id();  // the system's number; 0 where there is none
// Tells threads of this process apart that live at the same time; never 0. No call of the system.
uintptr_t this_thread_key();
// False where the system does not tell (other than Linux, no /proc), or the thread has ended.
bool thread_times(int64_t thread_id, ThreadTimes& out);

}  // namespace dataline
