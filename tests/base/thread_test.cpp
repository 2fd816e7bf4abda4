// Threads, the handle for event loops, cancel tokens, and how many CPUs a cgroup grants.
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
#include <vector>

#include "core/base/cancel.h"
#include "core/base/thread_wait.h"
#include "tests/memory/temp_files.h"

namespace dataline {
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

class CgroupCpus : public ::testing::Test {
 protected:
  void groups(const std::string& text) { dir_.write("proc/self/cgroup", text); }
  void max(const std::string& group, const std::string& text) {
    dir_.write("sys/fs/cgroup" + group + "/cpu.max", text);
  }
  void version1(const std::string& group, const std::string& quota, const std::string& period) {
    dir_.write("sys/fs/cgroup/cpu" + group + "/cpu.cfs_quota_us", quota);
    dir_.write("sys/fs/cgroup/cpu" + group + "/cpu.cfs_period_us", period);
  }
  int32_t cpus() const {
    const std::string root = dir_.path("");
    return cgroup_cpus(root.substr(0, root.size() - 1));
  }
  TempDir dir_;
};

TEST_F(CgroupCpus, WithoutCgroupsOrAQuotaThereIsNoLimit) {
  EXPECT_EQ(cpus(), 0);
  groups("0::/\n");
  EXPECT_EQ(cpus(), 0);
  max("", "max 100000\n");
  EXPECT_EQ(cpus(), 0);
}

TEST_F(CgroupCpus, AVersion2QuotaIsRoundedUp) {
  groups("0::/job\n");
  for (const auto& [text, expected] :
       std::vector<std::pair<std::string, int32_t>>{{"100000 100000\n", 1},
                                                    {"50000 100000\n", 1},
                                                    {"1 100000\n", 1},
                                                    {"150000 100000\n", 2},
                                                    {"200000 100000\n", 2},
                                                    {"200001 100000\n", 3},
                                                    {"1600000 50000\n", 32},
                                                    {"9000000000000 1\n", 1 << 20},
                                                    {"9223372036854775807 100000\n", 1 << 20}}) {
    max("/job", text);
    EXPECT_EQ(cpus(), expected) << text;
  }
}

TEST_F(CgroupCpus, AGroupWithoutASlashIsLookedUpOnceAndNoMore) {
  groups("0::job\n");
  max("", "200000 100000\n");
  EXPECT_EQ(cpus(), 2) << "the root's quota";
}

TEST_F(CgroupCpus, TheTightestGroupUpToTheRootBinds) {
  groups("0::/a/b/c\n");
  max("/a/b/c", "max 100000\n");
  max("/a/b", "400000 100000\n");
  EXPECT_EQ(cpus(), 4);
  max("/a", "300000 100000\n");
  EXPECT_EQ(cpus(), 3);
  max("/a/b/c", "200000 100000\n");
  EXPECT_EQ(cpus(), 2);
  max("", "100000 100000\n");
  EXPECT_EQ(cpus(), 1);
  max("/a/other", "1 100000\n");
  EXPECT_EQ(cpus(), 1) << "of a neighbour: not ours";
}

TEST_F(CgroupCpus, Version1AmongOtherControllers) {
  groups("12:memory:/docker/x\n4:cpu,cpuacct:/docker/x\n1:name=systemd:/\n");
  version1("/docker/x", "-1\n", "100000\n");
  EXPECT_EQ(cpus(), 0) << "-1: no quota";
  version1("/docker/x", "250000\n", "100000\n");
  EXPECT_EQ(cpus(), 3);
  version1("/docker", "100000\n", "100000\n");
  EXPECT_EQ(cpus(), 1);
  groups("4:cpuset:/docker/x\n");
  EXPECT_EQ(cpus(), 0) << "cpuset is another controller";
}

TEST_F(CgroupCpus, HybridMachinesTakeTheTighterOfBoth) {
  groups("4:cpu:/x\n0::/y\n");
  version1("/x", "400000\n", "100000\n");
  max("/y", "200000 100000\n");
  EXPECT_EQ(cpus(), 2);
  version1("/x", "100000\n", "100000\n");
  EXPECT_EQ(cpus(), 1);
}

TEST_F(CgroupCpus, DamagedFilesAreNoLimit) {
  groups("nonsense\n0::\n4:cpu\n0::/job\n");
  for (const char* text : {"", "\n", "x y\n", "100000\n", "100000 0\n", "0 100000\n", "-5 100000\n",
                           "100000 -1\n", "1e5 1e5\n", "99999999999999999999 100000\n"}) {
    max("/job", text);
    EXPECT_EQ(cpus(), 0) << "'" << text << "'";
  }
}

TEST(Cpus, OfThisProcessAreAtLeastOneAndNoMoreThanTheMachines) {
  EXPECT_GE(available_cpus(), 1);
  EXPECT_LE(available_cpus(), static_cast<int32_t>(std::max(1u, std::thread::hardware_concurrency())));
}

}  // namespace
}  // namespace dataline
