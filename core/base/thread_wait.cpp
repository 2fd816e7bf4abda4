// SPDX-License-Identifier: Apache-2.0
#include "core/base/thread_wait.h"

#include <cerrno>
#include <climits>
#include <ctime>

#if defined(__linux__)
#include <linux/futex.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace dataline {
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
}  // namespace dataline
