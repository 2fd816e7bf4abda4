// SPDX-License-Identifier: Apache-2.0
#include "core/base/thread.h"

#include <sched.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <ctime>
#include <memory>
#include <system_error>

namespace dataline {
namespace {

struct Start {
  std::function<void()> body;
  char name[16];
};

void* run_thread(void* argument) {
  std::unique_ptr<Start> start(static_cast<Start*>(argument));
#if defined(__linux__)
  pthread_setname_np(pthread_self(), start->name);
#endif
  start->body();
  return nullptr;
}

int64_t clock_ns(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<int64_t>(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

}  // namespace

Result<Thread> Thread::start(std::string_view name, std::function<void()> body) {
  auto start = std::make_unique<Start>();
  start->body = std::move(body);
  size_t length = std::min<size_t>(name.size(), sizeof start->name - 1);
  std::memcpy(start->name, name.data(), length);
  start->name[length] = '\0';

  // The new thread inherits this mask, so that no signal of the host is ever handled on it. But SIGBUS is: a thread's own
  // load raises it, and blocked it would end the process past every handler (memory/fault_guard.h).
  sigset_t all, before;
  sigfillset(&all);
  sigdelset(&all, SIGBUS);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  Thread thread;
  int failure = pthread_create(&thread.handle_, nullptr, run_thread, start.get());
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
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
  if (running_) pthread_join(handle_, nullptr);
  running_ = false;
}

void Thread::detach() noexcept {
  if (running_) pthread_detach(handle_);
  running_ = false;
}

int64_t Thread::cpu_ns() const {
  clockid_t clock{};
  return running_ && pthread_getcpuclockid(handle_, &clock) == 0 ? clock_ns(clock) : 0;
}

int64_t monotonic_ns() { return clock_ns(CLOCK_MONOTONIC); }
int64_t thread_cpu_ns() { return clock_ns(CLOCK_THREAD_CPUTIME_ID); }
int32_t process_id() { return static_cast<int32_t>(getpid()); }

}  // namespace dataline
