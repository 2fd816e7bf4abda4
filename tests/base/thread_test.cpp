// Threads, the handle for event loops, and cancel tokens.
// SPDX-License-Identifier: Apache-2.0
#include "core/base/thread.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <string>
#include <thread>

#include "core/base/cancel.h"
#include "core/base/thread_wait.h"

namespace dataline::thread_test {
namespace {

TEST(Thread, RunsItsBodyUnderItsNameWithAllSignalsBlockedButThatOfItsOwnLoads) {
  std::string name(32, '\0');
  int open_signals = 0;
  bool bus_is_open = false;
  Result<Thread> thread = Thread::start("dataline-worker-17", [&] {
    pthread_getname_np(pthread_self(), name.data(), name.size());
    sigset_t mask;
    pthread_sigmask(SIG_BLOCK, nullptr, &mask);
    for (int number : {SIGINT, SIGTERM, SIGUSR1, SIGUSR2, SIGALRM, SIGCHLD, SIGPROF, SIGPIPE, SIGHUP})
      open_signals += sigismember(&mask, number) == 0 ? 1 : 0;
    bus_is_open = sigismember(&mask, SIGBUS) == 0;
  });
  ASSERT_TRUE(thread.is_ok());
  EXPECT_TRUE(thread.value().joinable());
  thread.value().join();
  EXPECT_FALSE(thread.value().joinable());
  thread.value().join();
  EXPECT_EQ(name.c_str(), std::string("dataline-worker")) << "15 bytes of it";
  EXPECT_EQ(open_signals, 0);
  EXPECT_TRUE(bus_is_open) << "blocked, it would end the process past every handler";
  sigset_t mine;
  pthread_sigmask(SIG_BLOCK, nullptr, &mine);
  EXPECT_EQ(sigismember(&mine, SIGUSR1), 0) << "the starter's own mask is as it was";
}

size_t stack_bytes_of_a_thread() {
  size_t bytes = 0;
  Thread::start("stack", [&] {
    pthread_attr_t mine;
    pthread_getattr_np(pthread_self(), &mine);
    pthread_attr_getstacksize(&mine, &bytes);
    pthread_attr_destroy(&mine);
  }).take();
  return bytes;
}

TEST(Thread, HasRoomWhereTheSystemGivesLittleAndAllOfItWhereItGivesMore) {
  constexpr size_t kGuard = 64 << 10;  // may be counted in
  pthread_attr_t before;
  ASSERT_EQ(pthread_getattr_default_np(&before), 0);
  for (const size_t given : {size_t{128} << 10, size_t{16} << 20}) {  // the first is musl's default
    pthread_attr_t wanted;
    pthread_attr_init(&wanted);
    pthread_attr_setstacksize(&wanted, given);
    ASSERT_EQ(pthread_setattr_default_np(&wanted), 0);
    EXPECT_GE(stack_bytes_of_a_thread() + kGuard, std::max(given, kLeastStackBytes)) << given;
    pthread_attr_destroy(&wanted);
  }
  EXPECT_EQ(pthread_setattr_default_np(&before), 0);
  pthread_attr_destroy(&before);
}

TEST(Thread, JoinsWhenItGoesAndWhenAnotherTakesItsPlace) {
  std::atomic<int> done{0};
  {
    Thread thread = Thread::start("a", [&] { done.fetch_add(1); }).take();
    Thread moved = std::move(thread);
    EXPECT_FALSE(thread.joinable());  // NOLINT(bugprone-use-after-move): moved from is empty
    moved = Thread::start("b", [&] { done.fetch_add(1); }).take();
    EXPECT_GE(done.load(), 1) << "the first one was joined";
  }
  EXPECT_EQ(done.load(), 2);
}

TEST(Thread, ADetachedOneGoesOnAlone) {
  std::atomic<bool> go{false}, done{false};
  {
    Thread thread = Thread::start("alone", [&] {
                      go.wait(false);
                      done.store(true);
                      done.notify_all();
                    }).take();
    thread.detach();
    EXPECT_FALSE(thread.joinable());
    EXPECT_EQ(thread.cpu_ns(), 0);
  }
  go.store(true);
  go.notify_all();
  done.wait(false);
}

TEST(Thread, TellsTheCpuTimeItUsed) {
  std::atomic<bool> used{false}, stop{false};
  Thread thread = Thread::start("busy", [&] {
                    while (thread_cpu_ns() < 1'000'000) {
                    }
                    used.store(true);
                    used.notify_all();
                    stop.wait(false);
                  }).take();
  used.wait(false);
  EXPECT_GE(thread.cpu_ns(), 1'000'000);
  stop.store(true);
  stop.notify_all();
}

bool readable(const ThreadEvent& event) {
  pollfd wanted = {static_cast<int>(event.handle()), POLLIN, 0};
  return poll(&wanted, 1, 0) == 1;
}

TEST(ThreadEvent, IsReadableFromRaiseToLowerHoweverOftenRaised) {
  ThreadEvent event = ThreadEvent::create().take();
  EXPECT_FALSE(readable(event));
  event.lower();
  EXPECT_FALSE(readable(event));
  for (int times : {1, 2, 1000}) {
    for (int i = 0; i < times; ++i) event.raise();
    EXPECT_TRUE(readable(event));
    EXPECT_TRUE(readable(event)) << "a look takes nothing away";
    event.lower();
    EXPECT_FALSE(readable(event)) << "after " << times;
  }
  ThreadEvent moved = std::move(event);
  moved.raise();
  EXPECT_TRUE(readable(moved));
}

TEST(ThreadEvent, WakesAThreadThatPolls) {
  ThreadEvent event = ThreadEvent::create().take();
  std::thread other([&] { event.raise(); });
  pollfd wanted = {static_cast<int>(event.handle()), POLLIN, 0};
  EXPECT_EQ(poll(&wanted, 1, -1), 1);
  other.join();
}

TEST(ThreadEvent, AFullTableOfDescriptorsIsAStatus) {
  rlimit before;
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  rlimit none = before;
  none.rlim_cur = 0;
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  Result<ThreadEvent> event = ThreadEvent::create();
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
  ASSERT_FALSE(event.is_ok());
  EXPECT_EQ(event.status().code(), Code::kTooManyFiles);
  EXPECT_EQ(event.status().os_error(), EMFILE);
}

struct Counter : CancelToken::Listener {
  std::atomic<int> calls{0};
  void on_cancel() noexcept override { calls.fetch_add(1); }
};

TEST(CancelToken, TellsEveryListenerOnceAndLateOnesAtOnce) {
  CancelToken token;
  Counter early, gone, late;
  EXPECT_FALSE(token.cancelled());
  token.attach(&early);
  token.attach(&gone);
  token.detach(&gone);
  token.detach(&gone);
  EXPECT_EQ(early.calls.load(), 0);
  token.cancel();
  EXPECT_TRUE(token.cancelled());
  EXPECT_EQ(early.calls.load(), 1);
  EXPECT_EQ(gone.calls.load(), 0);
  token.attach(&late);
  EXPECT_EQ(late.calls.load(), 1) << "it would wait for ever otherwise";
  EXPECT_TRUE(token.cancelled()) << "for good";
}

TEST(CancelToken, AListenerThatIsGoneIsNeverCalledWhateverTheTiming) {
  for (int round = 0; round < 500; ++round) {
    CancelToken token;
    std::thread canceller([&] { token.cancel(); });
    {
      Counter counter;
      token.attach(&counter);
      token.detach(&counter);
      EXPECT_LE(counter.calls.load(), 1);
    }
    canceller.join();
  }
}

}  // namespace
}  // namespace dataline::thread_test
