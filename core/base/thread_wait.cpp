// SPDX-License-Identifier: Apache-2.0
#include "core/base/thread_wait.h"

#include <cerrno>
#include <climits>
#include <ctime>

#include "core/base/checked.h"

#if defined(__linux__)
#include <linux/futex.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace dataline {

int64_t deadline_after(int64_t timeout_ns) {
  if (timeout_ns < 0) return kForever;
  return checked_add(monotonic_ns(), timeout_ns).value_or(kForever);
}

#if defined(DATALINE_INTERLEAVE)

bool WaitPoint::sleep(uint32_t seen, int64_t deadline_ns) {
  return interleave::futex_wait(sequence_.word(), seen, deadline_ns);
}

void WaitPoint::wake() {
  wake_ns_.store(monotonic_ns(), std::memory_order_relaxed);
  interleave::futex_wake(sequence_.word());
}

#else
#if defined(__linux__)
namespace {

constexpr timespec kMoment{0, 1'000'000};
constexpr int kWakeAttempts = 4;

bool longer_than_a_moment(const timespec& time) { return time.tv_sec > 0 || time.tv_nsec > kMoment.tv_nsec; }

}  // namespace
#endif

bool WaitPoint::sleep(uint32_t seen, int64_t deadline_ns) {
#if defined(__linux__)
  timespec left{};
  timespec* timeout = nullptr;
  if (deadline_ns != kForever) {
    int64_t left_ns = deadline_ns - monotonic_ns();
    if (left_ns <= 0) return false;
    left = {static_cast<time_t>(left_ns / 1'000'000'000), static_cast<long>(left_ns % 1'000'000'000)};
    timeout = &left;
  }
  // EINTR, EAGAIN (the sequence moved) and wake-ups look alike to the caller, who looks at its condition again.
  const bool slept = syscall(SYS_futex, &sequence_, FUTEX_WAIT_PRIVATE, seen, timeout, nullptr, 0) == 0;
  if (!slept && errno != EINTR && errno != EAGAIN && errno != ETIMEDOUT) {
    // A sandbox that refuses futex (EPERM, ENOSYS): nobody can be woken, so look again after a moment, which costs
    // neither a hang nor a core.
    ppoll(nullptr, 0, timeout == nullptr || longer_than_a_moment(left) ? &kMoment : timeout, nullptr);
  }
  return deadline_ns == kForever || monotonic_ns() < deadline_ns;
#else
  static_cast<void>(deadline_ns);
  sequence_.wait(seen);
  return true;
#endif
}

void WaitPoint::wake() {
  wake_ns_.store(monotonic_ns(), std::memory_order_relaxed);
#if defined(__linux__)
  // It fails only where futex is refused. There sleepers look again by themselves; but one may sleep since before a
  // refusal that passes, so it is tried again.
  for (int attempt = 0; attempt < kWakeAttempts; ++attempt) {
    if (syscall(SYS_futex, &sequence_, FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0) >= 0) return;
  }
#else
  sequence_.notify_all();
#endif
}

#endif

#if defined(__linux__)

Result<ThreadEvent> ThreadEvent::create() {
  int handle = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (handle >= 0) return ThreadEvent(handle);
  int failure = errno;
  Code code = failure == EMFILE || failure == ENFILE ? Code::kTooManyFiles : Code::kNoMemory;
  return error(code, "wait handle: eventfd failed").with_os_error(failure);
}

ThreadEvent::~ThreadEvent() {
  if (handle_ >= 0) close(static_cast<int>(handle_));
}

void ThreadEvent::raise() const {
  uint64_t one = 1;
  // Fails only when the counter is full, and then the handle is readable already.
  static_cast<void>(!write(static_cast<int>(handle_), &one, sizeof one));
}

void ThreadEvent::lower() const {
  uint64_t count;
  static_cast<void>(!read(static_cast<int>(handle_), &count, sizeof count));  // EAGAIN: it was not raised
}

#else

Result<ThreadEvent> ThreadEvent::create() {
  return error(Code::kUnsupported, "wait handles exist on Linux and Windows only");
}
ThreadEvent::~ThreadEvent() = default;
void ThreadEvent::raise() const {}
void ThreadEvent::lower() const {}

#endif

}  // namespace dataline
