// How many CPUs a cgroup grants.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "core/memory/machine_limits.h"
#include "tests/memory/temp_files.h"

namespace dataline::cpus_test {
namespace {

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
  int32_t cpus() const { return quota_cpus(dir_.path("")); }
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

TEST_F(CgroupCpus, AContainerWithoutNamespaceSeesItsGroupAsTheMountsRoot) {
  const std::string mount = "/sys/fs/cgroup/cpu,cpuacct";
  dir_.write("proc/self/mountinfo",
             "35 32 0:30 /docker/abc " + mount + " ro - cgroup cgroup rw,cpu,cpuacct\n");
  groups("4:cpu,cpuacct:/docker/abc\n");
  dir_.write(mount.substr(1) + "/cpu.cfs_quota_us", "300000\n");
  dir_.write(mount.substr(1) + "/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(cpus(), 3);
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
}  // namespace dataline::cpus_test
