// SPDX-License-Identifier: Apache-2.0
#include "core/memory/machine_limits.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include "tests/memory/temp_files.h"

namespace dataline::machine_limits_test {
namespace {

// A machine of 16 GiB whose /proc and /sys the test writes.
class MachineLimits : public testing::Test {
 protected:
  MachineLimits() { write("/proc/meminfo", "MemTotal:       16777216 kB\nMemFree:         1000 kB\n"); }

  void write(const std::string& path, const std::string& text) { root_.write(path.substr(1), text); }
  void write(const std::string& path, int64_t number) { write(path, std::to_string(number) + "\n"); }
  MemoryLimit limit() { return memory_limit(root_.path("")); }

  static constexpr int64_t kMachine = int64_t{16} << 30;
  const std::string kV2Mount =
      "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n";
  const std::string kV1Mount =
      "36 32 0:31 / /sys/fs/cgroup/memory rw,nosuid shared:15 - cgroup cgroup rw,memory\n";
  TempDir root_;
};

TEST_F(MachineLimits, WithoutCgroupsItIsTheMachine) {
  EXPECT_EQ(limit().bytes, kMachine);
  EXPECT_EQ(limit().origin, "machine");
}

TEST_F(MachineLimits, Version2LimitOfTheOwnGroup) {
  write("/proc/self/mountinfo", kV2Mount);
  write("/proc/self/cgroup", "0::/user.slice/job\n");
  write("/sys/fs/cgroup/user.slice/job/memory.max", 1 << 30);
  EXPECT_EQ(limit().bytes, 1 << 30);
  EXPECT_EQ(limit().origin, "/sys/fs/cgroup/user.slice/job/memory.max");
}

TEST_F(MachineLimits, TheTightestGroupAboveWins) {
  write("/proc/self/mountinfo", kV2Mount);
  write("/proc/self/cgroup", "0::/a/b/c\n");
  write("/sys/fs/cgroup/a/b/c/memory.max", "max\n");
  write("/sys/fs/cgroup/a/b/memory.max", 3 << 20);
  write("/sys/fs/cgroup/a/memory.max", 2 << 20);
  EXPECT_EQ(limit().bytes, 2 << 20);
  EXPECT_EQ(limit().origin, "/sys/fs/cgroup/a/memory.max");
}

TEST_F(MachineLimits, OtherGroupsDoNotCount) {
  write("/proc/self/mountinfo", kV2Mount);
  write("/proc/self/cgroup", "0::/a/b\n");
  write("/sys/fs/cgroup/a/bb/memory.max", 1);
  write("/sys/fs/cgroup/a/b/c/memory.max", 1);
  EXPECT_EQ(limit().bytes, kMachine);
}

TEST_F(MachineLimits, ThrottlingAboveMemoryHighIsALimitToo) {
  write("/proc/self/mountinfo", kV2Mount);
  write("/proc/self/cgroup", "0::/a\n");
  write("/sys/fs/cgroup/a/memory.max", 8 << 20);
  write("/sys/fs/cgroup/a/memory.high", 6 << 20);
  EXPECT_EQ(limit().bytes, 6 << 20);
}

TEST_F(MachineLimits, NoLimitAndNonsenseLeaveTheMachine) {
  write("/proc/self/mountinfo", kV2Mount);
  write("/proc/self/cgroup", "0::/a\n");
  for (const char* text : {"max\n", "", "0\n", "-5\n", "12 apples\n", "99999999999999999999999\n"}) {
    write("/sys/fs/cgroup/a/memory.max", std::string(text));
    EXPECT_EQ(limit().bytes, kMachine) << text;
  }
}

TEST_F(MachineLimits, ALimitAboveTheMachineIsTheMachine) {
  write("/proc/self/mountinfo", kV1Mount);
  write("/proc/self/cgroup", "4:memory:/\n");
  write("/sys/fs/cgroup/memory/memory.limit_in_bytes", 9223372036854771712);
  EXPECT_EQ(limit().bytes, kMachine);
  EXPECT_EQ(limit().origin, "machine");
}

TEST_F(MachineLimits, Version1AmongOtherControllers) {
  write("/proc/self/mountinfo",
        "35 32 0:30 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu,cpuacct\n" + kV1Mount);
  write("/proc/self/cgroup", "9:name=systemd:/x\n4:memory:/job/7\n3:cpu,cpuacct:/other\n");
  write("/sys/fs/cgroup/memory/job/7/memory.limit_in_bytes", 5 << 20);
  write("/sys/fs/cgroup/memory/job/memory.limit_in_bytes", 4 << 20);
  write("/sys/fs/cgroup/cpu/memory.limit_in_bytes", 1);
  EXPECT_EQ(limit().bytes, 4 << 20);
}

TEST_F(MachineLimits, HybridMachinesTakeTheTighterOfBoth) {
  write("/proc/self/mountinfo", kV1Mount + "40 32 0:27 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n");
  write("/proc/self/cgroup", "4:memory:/one\n0::/two\n");
  write("/sys/fs/cgroup/memory/one/memory.limit_in_bytes", 7 << 20);
  write("/sys/fs/cgroup/unified/two/memory.max", 6 << 20);
  EXPECT_EQ(limit().bytes, 6 << 20);
}

TEST_F(MachineLimits, ContainerWithoutNamespaceSeesItsGroupAsTheMountsRoot) {
  write("/proc/self/mountinfo",
        "36 32 0:31 /docker/abc /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n");
  write("/proc/self/cgroup", "4:memory:/docker/abc/inner\n");
  write("/sys/fs/cgroup/memory/memory.limit_in_bytes", 9 << 20);
  write("/sys/fs/cgroup/memory/inner/memory.limit_in_bytes", 8 << 20);
  EXPECT_EQ(limit().bytes, 8 << 20);
}

TEST_F(MachineLimits, GroupOutsideOfTheMountFallsBackToTheMount) {
  write("/proc/self/mountinfo",
        "36 32 0:31 /docker/abc /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n");
  write("/sys/fs/cgroup/memory/memory.limit_in_bytes", 9 << 20);
  for (const char* group : {"/docker/abcdef", "/elsewhere", "/docker/abc/../../x"}) {
    write("/proc/self/cgroup", std::string("4:memory:") + group + "\n");
    EXPECT_EQ(limit().bytes, 9 << 20) << group;
  }
}

TEST_F(MachineLimits, BlanksInPathsAreUnescaped) {
  write("/proc/self/mountinfo", "30 23 0:26 / /sys/fs/my\\040cgroup rw - cgroup2 cgroup2 rw\n");
  write("/proc/self/cgroup", "0::/a\n");
  write("/sys/fs/my cgroup/a/memory.max", 1 << 20);
  EXPECT_EQ(limit().bytes, 1 << 20);
}

TEST_F(MachineLimits, WithoutMountinfoTheUsualPlacesAreTried) {
  write("/proc/self/cgroup", "0::/a\n");
  write("/sys/fs/cgroup/a/memory.max", 1 << 20);
  EXPECT_EQ(limit().bytes, 1 << 20);
}

TEST_F(MachineLimits, DamagedTablesAreSkipped) {
  write("/proc/self/mountinfo", "garbage\n\n1 2 3 - cgroup2\n- cgroup2 cgroup2 rw\n" + kV2Mount);
  write("/proc/self/cgroup", "nonsense\n0:\n::\n0::/a\n");
  write("/sys/fs/cgroup/a/memory.max", 1 << 20);
  EXPECT_EQ(limit().bytes, 1 << 20);
}

TEST(MachineLimitsHere, ThisMachineHasAPositiveLimitOfItsOwn) {
  MemoryLimit here = memory_limit();
  EXPECT_GT(here.bytes, 16 << 20);
  EXPECT_FALSE(here.origin.empty());
}

TEST(MachineLimitsHere, WithoutProcTheSystemIsAsked) {
  TempDir empty;
  MemoryLimit limit = memory_limit(empty.path(""));
  EXPECT_GT(limit.bytes, 16 << 20);
  EXPECT_EQ(limit.origin, "machine");
}

TEST_F(MachineLimits, WhatBoundsThreadsIsNamedFromTheOwnGroupUpwards) {
  write("/proc/self/mountinfo",
        kV2Mount + "37 32 0:32 / /sys/fs/cgroup/pids rw shared:16 - cgroup cgroup rw,pids\n");
  write("/proc/self/cgroup", "4:pids:/old\n0::/a/b\n");
  write("/sys/fs/cgroup/a/b/pids.max", 64);
  write("/sys/fs/cgroup/a/b/pids.current", 63);
  write("/sys/fs/cgroup/a/pids.max", "max\n");
  write("/sys/fs/cgroup/pids/old/pids.max", 7);
  const std::string text = thread_limits(root_.path(""));
  EXPECT_NE(text.find("/sys/fs/cgroup/a/b/pids.max 64 (63 in use), /sys/fs/cgroup/pids/old/pids.max 7"),
            std::string::npos)
      << text;
  EXPECT_EQ(text.find("/a/pids.max"), std::string::npos) << text;
}

TEST_F(MachineLimits, ThreadsAreBoundByTheUsersProcessesAndAddressSpaceToo) {
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_NPROC, &before), 0);
  rlimit fewer = before;
  fewer.rlim_cur = 12345;
  ASSERT_EQ(setrlimit(RLIMIT_NPROC, &fewer), 0);
  EXPECT_NE(thread_limits(root_.path("")).find("ulimit -u 12345"), std::string::npos);
  EXPECT_EQ(setrlimit(RLIMIT_NPROC, &before), 0);
}

}  // namespace
}  // namespace dataline::machine_limits_test
