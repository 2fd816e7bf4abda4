// SPDX-License-Identifier: Apache-2.0
#include "core/base/thread.h"

#if defined(_WIN32)
#include <windows.h>
#else
#include <signal.h>
#endif
#if defined(__linux__)
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

#include <charconv>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <memory>
#include <system_error>
#include <utility>
#include <vector>

#include "core/base/atomic.h"
#include "core/base/thread_wait.h"

namespace dataline {
namespace {

struct Start {
  std::function<void()> body;
  std::string name;
  std::shared_ptr<const ThreadHooks> hooks;  // may be null
  int32_t worker;
};

void run_between_hooks(const std::function<void()>& body, const ThreadHooks* hooks, int32_t worker,
                       const char* name) {
  if (hooks != nullptr) hooks->on_start(worker, name);
  body();
  if (hooks != nullptr) hooks->on_end(worker);
}

void* run_thread(void* argument) {
  std::unique_ptr<Start> start(static_cast<Start*>(argument));
#if (defined(__linux__) || defined(_WIN32)) && !defined(DATALINE_INTERLEAVE)
  pthread_setname_np(pthread_self(), start->name.c_str());
#endif
  run_between_hooks(start->body, start->hooks.get(), start->worker, start->name.c_str());
  return nullptr;
}

#if defined(DATALINE_INTERLEAVE)

int create_thread(pthread_t* handle, Start* start) {
  return interleave::create_thread(handle, start->name.c_str(), run_thread, start);
}
void join_thread(pthread_t handle) { interleave::join_thread(handle); }
void detach_thread(pthread_t handle) { interleave::detach_thread(handle); }
pthread_t this_thread() { return interleave::this_thread(); }
int64_t clock_ns(clockid_t) { return interleave::clock_ns(); }
int64_t cpu_ns_of(pthread_t) { return 0; }

#else

pthread_t this_thread() { return pthread_self(); }
int64_t clock_ns(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<int64_t>(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

#if defined(_WIN32)
// winpthreads; there are no signals to keep away from the thread.
int create_thread(pthread_t* handle, Start* start) {
  return pthread_create(handle, nullptr, run_thread, start);
}

int64_t cpu_ns_of(pthread_t handle) {
  FILETIME created, ended, kernel, user;
  if (GetThreadTimes(static_cast<HANDLE>(pthread_gethandle(handle)), &created, &ended, &kernel, &user) == 0)
    return 0;
  const auto ticks = [](const FILETIME& time) {
    return static_cast<int64_t>(time.dwHighDateTime) << 32 | static_cast<int64_t>(time.dwLowDateTime);
  };
  return (ticks(kernel) + ticks(user)) * 100;  // of 100 ns
}
#else
// The system's default, unless that is less than kLeastStackBytes.
int with_room(pthread_attr_t* attributes) {
  size_t bytes = 0;
  if (const int failure = pthread_attr_init(attributes); failure != 0) return failure;
  if (pthread_attr_getstacksize(attributes, &bytes) == 0 && bytes < kLeastStackBytes)
    return pthread_attr_setstacksize(attributes, kLeastStackBytes);
  return 0;
}

// The new thread inherits this mask, so that no signal of the host is ever handled on it. But SIGBUS is: a thread's own
// load raises it, and blocked it would end the process past every handler (memory/fault_guard.h).
int create_thread(pthread_t* handle, Start* start) {
  sigset_t all, before;
  sigfillset(&all);
  sigdelset(&all, SIGBUS);
  pthread_attr_t attributes;
  int failure = with_room(&attributes);
  if (failure != 0) return failure;
  pthread_sigmask(SIG_SETMASK, &all, &before);
  failure = pthread_create(handle, &attributes, run_thread, start);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  pthread_attr_destroy(&attributes);
  return failure;
}

int64_t cpu_ns_of(pthread_t handle) {
  clockid_t clock{};
  return pthread_getcpuclockid(handle, &clock) == 0 ? clock_ns(clock) : 0;
}
#endif

void join_thread(pthread_t handle) { pthread_join(handle, nullptr); }
void detach_thread(pthread_t handle) { pthread_detach(handle); }

#endif

Status not_started(std::string_view name, int failure) {
  return error(Code::kThread, "thread '", name,
               "' could not be started: ", std::generic_category().message(failure))
      .with_os_error(failure);
}

enum Stage : int32_t { kWaits, kRuns, kWithdrawn, kEnded };

}  // namespace

// Shared by the host's thread and ours. Whoever takes it from kWaits owns the body: the host's thread, to run it, or
// withdraw(), to drop it.
struct Thread::Hosted {
  Start start;
  Atomic<int32_t> stage{kWaits};
  WaitPoint ended;

  bool take(Stage to) {
    int32_t expected = kWaits;
    return stage.compare_exchange_strong(expected, to);
  }
  static void main(void* argument) {
    const std::unique_ptr<std::shared_ptr<Hosted>> reference(static_cast<std::shared_ptr<Hosted>*>(argument));
    Hosted& self = **reference;
    if (!self.take(kRuns)) return;
    run_between_hooks(self.start.body, self.start.hooks.get(), self.start.worker, self.start.name.c_str());
    self.start.body = nullptr;
    self.stage.store(kEnded);
    self.ended.notify_all();
  }
};

Result<Thread> Thread::start_hosted(std::string name, std::function<void()> body,
                                    const std::shared_ptr<const ThreadHooks>& hooks, int32_t worker) {
  Thread thread;
  thread.hosted_ = std::make_shared<Hosted>();
  thread.hosted_->start = {std::move(body), std::move(name), hooks, worker};
  auto reference = std::make_unique<std::shared_ptr<Hosted>>(thread.hosted_);
  const char* const text = thread.hosted_->start.name.c_str();
  if (const int failure = hooks->run(worker, text, Hosted::main, reference.get()); failure != 0)
    return not_started(text, failure);
  static_cast<void>(reference.release());  // main() owns it now
  thread.running_ = true;
  return thread;
}

Result<Thread> Thread::start(std::string_view name, std::function<void()> body,
                             std::shared_ptr<const ThreadHooks> hooks, int32_t worker) {
  constexpr size_t kMaxName = 15;  // Linux refuses longer ones
  std::string shown(name.substr(0, kMaxName));
  if (hooks != nullptr && hooks->runs())
    return start_hosted(std::move(shown), std::move(body), hooks, worker);
  auto start = std::make_unique<Start>(Start{std::move(body), std::move(shown), std::move(hooks), worker});
  Thread thread;
  const int failure = create_thread(&thread.handle_, start.get());
  if (failure != 0) return not_started(name, failure);
  static_cast<void>(start.release());  // run_thread owns it now
  thread.running_ = true;
  return thread;
}

void run_in_threads(std::string_view name, int64_t threads, const std::function<void(bool here)>& body) {
  std::vector<Thread> others;
  for (int64_t i = 1; i < threads; ++i) {
    Result<Thread> other = Thread::start(name, [&body] { body(false); });
    if (!other.is_ok()) break;
    others.push_back(other.take());
  }
  body(true);
}

Thread& Thread::operator=(Thread&& other) noexcept {
  join();
  handle_ = other.handle_;
  hosted_ = std::move(other.hosted_);
  running_ = other.running_;
  other.running_ = false;
  return *this;
}

bool Thread::withdraw() noexcept {
  if (!running_ || hosted_ == nullptr || !hosted_->take(kWithdrawn)) return false;
  hosted_->start.body = nullptr;
  running_ = false;
  return true;
}

void Thread::join() noexcept {
  if (running_ && hosted_ == nullptr) join_thread(handle_);
  if (running_ && hosted_ != nullptr && !withdraw())
    hosted_->ended.wait(kForever, [&] { return hosted_->stage.load() == kEnded; });
  running_ = false;
}

void Thread::detach() noexcept {
  if (running_ && hosted_ == nullptr) detach_thread(handle_);
  running_ = false;
}

int64_t Thread::cpu_ns() const { return running_ && hosted_ == nullptr ? cpu_ns_of(handle_) : 0; }

// A pointer or a number, on all systems that have pthreads.
uintptr_t this_thread_key() {
  const pthread_t thread = this_thread();
  static_assert(sizeof thread <= sizeof(uintptr_t));
  uintptr_t key = 0;
  std::memcpy(&key, &thread, sizeof thread);
  return key + 1;
}

int64_t monotonic_ns() { return clock_ns(CLOCK_MONOTONIC); }
int64_t thread_cpu_ns() { return clock_ns(CLOCK_THREAD_CPUTIME_ID); }
#if defined(CLOCK_MONOTONIC_COARSE)
int64_t coarse_ns() { return clock_ns(CLOCK_MONOTONIC_COARSE); }
#else
int64_t coarse_ns() { return monotonic_ns(); }
#endif

#if defined(__linux__)
int64_t this_thread_id() { return syscall(SYS_gettid); }

// Two numbers of /proc/PID/task/TID/schedstat, which the scheduler counts anyway (Documentation/scheduler/sched-stats.rst).
bool thread_times(int64_t thread_id, ThreadTimes& out) {
  if (thread_id <= 0) return false;
  char path[64];
  std::snprintf(path, sizeof path, "/proc/self/task/%lld/schedstat", static_cast<long long>(thread_id));
  const int file = ::open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  char text[96];
  const ssize_t bytes = ::read(file, text, sizeof text);
  ::close(file);
  if (bytes <= 0) return false;
  const char* const end = text + bytes;
  const auto cpu = std::from_chars(text, end, out.cpu_ns);
  if (cpu.ec != std::errc() || cpu.ptr == end) return false;
  return std::from_chars(cpu.ptr + 1, end, out.queued_ns).ec == std::errc();
}
#else
int64_t this_thread_id() { return 0; }
bool thread_times(int64_t /*thread_id*/, ThreadTimes& /*out*/) { return false; }
#endif

}  // namespace dataline
