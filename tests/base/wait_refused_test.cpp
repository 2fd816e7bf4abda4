// Waiting where the futex call fails: interrupted, told that the word moved, or refused by a sandbox. No wait hangs, none
// ends too soon, and none burns a core.
// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstddef>
#include <functional>
#include <thread>

#include "core/base/thread_wait.h"

namespace {
// What a futex call of the library fails with; 0: it does not. glibc's own futex calls do not come by here.
std::function<int()> futex_errno;
std::atomic<int> futex_calls{0};
}  // namespace

// Stands before the C library's in this program.
extern "C" long syscall(long number, ...) noexcept {
  static const auto real = reinterpret_cast<long (*)(long, ...)>(dlsym(RTLD_NEXT, "syscall"));
  va_list rest;
  va_start(rest, number);
  long a[6];
  for (long& argument : a) argument = va_arg(rest, long);
  va_end(rest);
  if (number == SYS_futex && futex_errno) {
    futex_calls.fetch_add(1);
    if (const int failure = futex_errno(); failure != 0) {
      errno = failure;
      return -1;
    }
  }
  return real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

namespace dataline::wait_refused_test {
namespace {

constexpr int64_t kMoment = 1'000'000, kLong = 100 * kMoment;

class WaitRefused : public ::testing::Test {
 protected:
  ~WaitRefused() override { futex_errno = nullptr; }

  // A thread that waits for a flag, which is set once it surely sleeps or tries to; returns its CPU time.
  static int64_t wait_for_flag(const std::function<void()>& first) {
    WaitPoint point;
    std::atomic<bool> flag{false}, waiting{false};
    int64_t cpu_ns = 0;
    std::thread waiter([&] {
      first();
      const int64_t begin_ns = thread_cpu_ns();
      waiting.store(true);
      EXPECT_TRUE(point.wait(kForever, [&] { return flag.load(); }));
      cpu_ns = thread_cpu_ns() - begin_ns;
    });
    const int64_t begin_ns = monotonic_ns();
    while (!waiting.load() || monotonic_ns() < begin_ns + kLong) {
    }
    flag.store(true);
    point.notify_all();
    waiter.join();
    return cpu_ns;
  }
};

TEST_F(WaitRefused, InterruptedSleepsAreSleptOn) {
  for (int number : {EINTR, EAGAIN}) {
    std::atomic<int> left{1000};
    futex_errno = [&, number] { return left.fetch_sub(1) > 0 ? number : 0; };
    wait_for_flag([] {});
    EXPECT_LE(left.load(), 0) << "it tried again and again, and then slept";
    WaitPoint point;
    left.store(1000);
    const int64_t deadline_ns = monotonic_ns() + 5 * kMoment;
    EXPECT_FALSE(point.wait(deadline_ns, [] { return false; }));
    EXPECT_GE(monotonic_ns(), deadline_ns);
  }
}

TEST_F(WaitRefused, WhereFutexIsRefusedAWaitEndsSoonAfterItsNotificationAndCostsNoCore) {
  for (int number : {ENOSYS, EPERM}) {
    futex_errno = [number] { return number; };
    futex_calls.store(0);
    EXPECT_LT(wait_for_flag([] {}), kLong / 2) << "of CPU, in a wait of " << kLong;
    EXPECT_GT(futex_calls.load(), 1) << "it is tried again each time: a refusal may pass";
    EXPECT_LT(futex_calls.load(), 400) << "about one try a millisecond";
  }
}

TEST_F(WaitRefused, WhereFutexIsRefusedDeadlinesHold) {
  futex_errno = [] { return ENOSYS; };
  WaitPoint point;
  for (int64_t length_ns : {kMoment / 10, kMoment, 7 * kMoment}) {
    const int64_t deadline_ns = monotonic_ns() + length_ns;
    EXPECT_FALSE(point.wait(deadline_ns, [] { return false; }));
    EXPECT_GE(monotonic_ns(), deadline_ns);
  }
}

TEST_F(WaitRefused, AWakeThatIsRefusedForAMomentIsNotLost) {
  WaitPoint point;
  std::atomic<bool> flag{false};
  std::atomic<int> wakes_to_refuse{0};
  futex_errno = [&] { return wakes_to_refuse.fetch_sub(1) > 0 ? EPERM : 0; };
  std::thread waiter([&] { EXPECT_TRUE(point.wait(kForever, [&] { return flag.load(); })); });
  const int64_t asleep_ns = monotonic_ns() + 20 * kMoment;
  while (monotonic_ns() < asleep_ns) {
  }
  wakes_to_refuse.store(3);
  flag.store(true);
  point.notify_all();
  waiter.join();
}

// The real thing: a filter on the thread that waits, as a sandbox sets one.
TEST_F(WaitRefused, UnderASeccompFilterToo) {
  for (int number : {ENOSYS, EPERM}) {
    std::atomic<bool> filtered{false};
    const int64_t cpu_ns = wait_for_flag([&] {
      sock_filter program[] = {
          BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
          BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_futex, 0, 1),
          BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | static_cast<uint32_t>(number)),
          BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
      };
      sock_fprog filter{static_cast<unsigned short>(std::size(program)), program};
      filtered.store(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
                     prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0);
    });
    if (!filtered.load()) GTEST_SKIP() << "this system sets no seccomp filters";
    EXPECT_LT(cpu_ns, kLong / 2);
  }
}

}  // namespace
}  // namespace dataline::wait_refused_test
