// SPDX-License-Identifier: Apache-2.0
#include "core/base/thread.h"

#include <signal.h>

#include <ctime>
#include <memory>
#include <system_error>
#include <utility>

#include "core/base/atomic.h"

namespace dataline {
namespace {

struct Start {
  std::function<void()> body;
  std::string name;
};

void* run_thread(void* argument) {
  std::unique_ptr<Start> start(static_cast<Start*>(argument));
#if defined(__linux__) && !defined(DATALINE_INTERLEAVE)
  pthread_setname_np(pthread_self(), start->name.c_str());
#endif
  start->body();
  return nullptr;
}

#if defined(DATALINE_INTERLEAVE)

int create_thread(pthread_t* handle, Start* start) {
  return interleave::create_thread(handle, start->name.c_str(), run_thread, start);
}
void join_thread(pthread_t handle) { interleave::join_thread(handle); }
void detach_thread(pthread_t handle) { interleave::detach_thread(handle); }
int64_t clock_ns(clockid_t) { return interleave::clock_ns(); }
int64_t cpu_ns_of(pthread_t) { return 0; }

#else

// The new thread inherits this mask, so that no signal of the host is ever handled on it. But SIGBUS is: a thread's own
// load raises it, and blocked it would end the process past every handler (memory/fault_guard.h).
int create_thread(pthread_t* handle, Start* start) {
  sigset_t all, before;
  sigfillset(&all);
  sigdelset(&all, SIGBUS);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const int failure = pthread_create(handle, nullptr, run_thread, start);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return failure;
}
void join_thread(pthread_t handle) { pthread_join(handle, nullptr); }
void detach_thread(pthread_t handle) { pthread_detach(handle); }

int64_t clock_ns(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<int64_t>(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}
int64_t cpu_ns_of(pthread_t handle) {
  clockid_t clock{};
  return pthread_getcpuclockid(handle, &clock) == 0 ? clock_ns(clock) : 0;
}

#endif

}  // namespace

Result<Thread> Thread::start(std::string_view name, std::function<void()> body) {
  constexpr size_t kMaxName = 15;  // Linux refuses longer ones
  auto start = std::make_unique<Start>(Start{std::move(body), std::string(name.substr(0, kMaxName))});
  Thread thread;
  const int failure = create_thread(&thread.handle_, start.get());
  if (failure != 0) {
    return error(Code::kThread, "thread '", name,
                 "' could not be started: ", std::generic_category().message(failure))
        .with_os_error(failure);
  }
  static_cast<void>(start.release());  // run_thread owns it now
  thread.running_ = true;
  return thread;
}

Thread& Thread::operator=(Thread&& other) noexcept {
  join();
  handle_ = other.handle_;
  running_ = other.running_;
  other.running_ = false;
  return *this;
}

void Thread::join() noexcept {
  if (running_) join_thread(handle_);
  running_ = false;
}

void Thread::detach() noexcept {
  if (running_) detach_thread(handle_);
  running_ = false;
}

int64_t Thread::cpu_ns() const { return running_ ? cpu_ns_of(handle_) : 0; }

int64_t monotonic_ns() { return clock_ns(CLOCK_MONOTONIC); }
int64_t thread_cpu_ns() { return clock_ns(CLOCK_THREAD_CPUTIME_ID); }

}  // namespace dataline
