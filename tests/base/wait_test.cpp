// Waiting for a condition: what a deadline means, that no notification is lost, that all who wait are woken. Nothing
// here sleeps on purpose: deadlines are past, a moment away, or never.
// SPDX-License-Identifier: Apache-2.0
#include "core/base/thread_wait.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "core/base/thread_mutex.h"

namespace dataline::wait_test {
namespace {

constexpr int64_t kMoment = 1'000'000;  // 1 ms

TEST(WaitPoint, AConditionThatHoldsNeedsNoTime) {
  WaitPoint point;
  for (int64_t deadline_ns : {kForever, int64_t{0}, int64_t{1}, monotonic_ns() + kMoment}) {
    int looks = 0;
    EXPECT_TRUE(point.wait(deadline_ns, [&] { return ++looks > 0; }));
    EXPECT_EQ(looks, 1) << "one look was enough";
  }
}

TEST(WaitPoint, APollLooksOnceAndNeverWaits) {
  WaitPoint point;
  int looks = 0;
  EXPECT_FALSE(point.wait(0, [&] { return ++looks > 1; }));
  EXPECT_EQ(looks, 1);
}

TEST(WaitPoint, ADeadlineThatIsPastEndsAtOnceWithTheLastLook) {
  WaitPoint point;
  EXPECT_FALSE(point.wait(1, [] { return false; }));
  int looks = 0;
  EXPECT_TRUE(point.wait(1, [&] { return ++looks > 1; })) << "what became true meanwhile counts";
}

TEST(WaitPoint, AWaitEndsNoSoonerThanItsDeadline) {
  WaitPoint point;
  for (int64_t length_ns : {int64_t{1'000}, int64_t{30'000}, kMoment, 5 * kMoment}) {
    const int64_t deadline_ns = monotonic_ns() + length_ns;
    EXPECT_FALSE(point.wait(deadline_ns, [] { return false; }));
    EXPECT_GE(monotonic_ns(), deadline_ns);
  }
}

TEST(WaitPoint, WhatBecomesTrueAtTheDeadlineCounts) {
  WaitPoint point;
  for (int64_t length_ns : {int64_t{1'000}, kMoment, 3 * kMoment}) {
    const int64_t deadline_ns = monotonic_ns() + length_ns;
    EXPECT_TRUE(point.wait(deadline_ns, [&] { return monotonic_ns() >= deadline_ns; }));
  }
}

TEST(WaitPoint, NotificationsWithoutAChangeDoNotEndAWait) {
  WaitPoint point;
  std::atomic<bool> stop{false};
  std::thread noise([&] {
    while (!stop.load()) point.notify_all();
  });
  const int64_t deadline_ns = monotonic_ns() + 5 * kMoment;
  EXPECT_FALSE(point.wait(deadline_ns, [] { return false; }));
  EXPECT_GE(monotonic_ns(), deadline_ns);
  stop.store(true);
  noise.join();
}

TEST(WaitPoint, ANotificationBeforeTheWaitIsNotNeeded) {
  WaitPoint point;
  std::atomic<bool> done{false};
  done.store(true);
  point.notify_all();
  EXPECT_TRUE(point.wait(kForever, [&] { return done.load(); }));
}

// Two threads hand a number to and fro; a wake that is lost would hang the test (which then times out).
TEST(WaitPoint, NoWakeIsLostInManyHandOffs) {
  constexpr int kRounds = 20'000;
  WaitPoint ping, pong;
  std::atomic<int> number{0};
  std::thread other([&] {
    for (int i = 1; i < 2 * kRounds; i += 2) {
      ping.wait(kForever, [&] { return number.load() == i; });
      number.store(i + 1);
      pong.notify_all();
    }
  });
  for (int i = 0; i < 2 * kRounds; i += 2) {
    number.store(i + 1);
    ping.notify_all();
    pong.wait(kForever, [&] { return number.load() == i + 2; });
  }
  other.join();
  EXPECT_EQ(number.load(), 2 * kRounds);
}

TEST(WaitPoint, OneNotificationWakesAllWhoWait) {
  WaitPoint point;
  std::atomic<int> round{0}, out{0};
  std::vector<std::thread> waiters;
  constexpr int kWaiters = 6, kRounds = 300;
  for (int w = 0; w < kWaiters; ++w) {
    waiters.emplace_back([&] {
      for (int r = 1; r <= kRounds; ++r) {
        point.wait(kForever, [&] { return round.load() >= r; });
        out.fetch_add(1);
        point.notify_all();
      }
    });
  }
  for (int r = 1; r <= kRounds; ++r) {
    round.store(r);
    point.notify_all();
    point.wait(kForever, [&] { return out.load() >= kWaiters * r; });
  }
  for (std::thread& waiter : waiters) waiter.join();
  EXPECT_EQ(out.load(), kWaiters * kRounds);
}

TEST(WaitPoint, EachWaiterHasItsOwnConditionAndDeadline) {
  WaitPoint point;
  std::atomic<int> value{0};
  bool first = false, second = true, third = false;
  std::thread a([&] { first = point.wait(kForever, [&] { return value.load() >= 1; }); });
  std::thread b([&] { second = point.wait(monotonic_ns() + kMoment, [&] { return value.load() >= 100; }); });
  std::thread c([&] { third = point.wait(kForever, [&] { return value.load() >= 2; }); });
  b.join();
  value.store(1);
  point.notify_all();
  a.join();
  value.store(2);
  point.notify_all();
  c.join();
  EXPECT_TRUE(first);
  EXPECT_FALSE(second);
  EXPECT_TRUE(third);
}

TEST(ThreadMutex, KeepsThreadsApart) {
  ThreadMutex mutex;
  int64_t count = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 20'000; ++i) {
        ThreadLock lock(mutex);
        ++count;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(count, 80'000);
  if (!mutex.try_lock()) FAIL() << "nobody holds it";
  std::thread([&] {
    if (!mutex.try_lock()) return;
    ADD_FAILURE() << "two hold it";
    mutex.unlock();
  }).join();
  mutex.unlock();
}

}  // namespace
}  // namespace dataline::wait_test
