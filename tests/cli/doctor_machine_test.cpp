// What `doctor` asks of the machine, of URIs and of transforms.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "bindings/cli/doctor/bare_reads.h"
#include "bindings/cli/doctor/machine.h"
#include "bindings/cli/doctor/operators.h"

namespace dataline::cli::doctor_machine_test {
namespace {

TEST(DoctorMachine, QuotasOfCgroups) {
  EXPECT_DOUBLE_EQ(quota_of("50000 100000"), 0.5);
  EXPECT_DOUBLE_EQ(quota_of("150000 100000"), 1.5);
  for (const char* none : {"max 100000", "", "0 100000", "5", "x y", "1 0"})
    EXPECT_EQ(quota_of(none), 0) << none;
}

TEST(DoctorMachine, QuotasOfBothVersionsAreFoundFromTheGroupUpToTheRoot) {
  const std::filesystem::path root = std::filesystem::path(testing::TempDir()) / "doctor_quota";
  std::filesystem::remove_all(root);
  const auto write = [&](const char* path, const char* text) {
    std::filesystem::create_directories((root / path).parent_path());
    std::ofstream(root / path) << text << "\n";
  };
  EXPECT_EQ(quota_in_force(root.string()), 0);
  write("proc/self/cgroup", "9:memory:/m\n3:cpu,cpuacct:/a/b\n0::/x/y");
  EXPECT_EQ(quota_in_force(root.string()), 0);
  write("sys/fs/cgroup/x/cpu.max", "150000 100000");
  EXPECT_EQ(quota_in_force(root.string()), 1.5);
  write("sys/fs/cgroup/cpu/a/b/cpu.cfs_quota_us", "-1");
  write("sys/fs/cgroup/cpu/a/b/cpu.cfs_period_us", "100000");
  EXPECT_EQ(quota_in_force(root.string()), 1.5);
  write("sys/fs/cgroup/cpu/a/cpu.cfs_quota_us", "50000");
  write("sys/fs/cgroup/cpu/a/cpu.cfs_period_us", "100000");
  EXPECT_EQ(quota_in_force(root.string()), 0.5);
}

TEST(DoctorFiles, ThePathsOfAUriAreItsFilesAndThoseOfAFolderAllInIt) {
  using Files = std::vector<std::string>;
  EXPECT_EQ(files_of_uri("tar:slow://a.tar,b%20%2cc.tar?key=1"), (Files{"slow://a.tar", "b ,c.tar"}));
  EXPECT_EQ(files_of_uri("raw:100%"), Files{"100%"});
  EXPECT_TRUE(files_of_uri("mix:recipe.json").empty());
  EXPECT_TRUE(files_of_uri("memory").empty());
  const std::filesystem::path root = std::filesystem::path(testing::TempDir()) / "doctor_files";
  std::filesystem::create_directories(root / "c");
  std::ofstream(root / "c" / "a.png") << "a";
  EXPECT_EQ(files_of_uri("folder:" + root.string()), Files{(root / "c" / "a.png").string()});
}

TEST(DoctorOperators, ATransformIsCutAfterEachOperatorAndNotInsideBrackets) {
  const auto prefixes = prefixes_of("image: decode, resize([8, 8]), normalize(mean=[0, 1], std=2)");
  ASSERT_EQ(prefixes.size(), 3u);
  EXPECT_EQ(prefixes[0].text, "image: decode");
  EXPECT_EQ(prefixes[0].last, "decode");
  EXPECT_EQ(prefixes[1].last, "resize([8, 8])");
  EXPECT_EQ(prefixes[2].last, "normalize(mean=[0, 1], std=2)");
  EXPECT_EQ(prefixes_of("x, y: cast(i64), flatten")[0].text, "x, y: cast(i64)");
  EXPECT_TRUE(prefixes_of("a: cast(f32), flatten; b: cast(i64)").empty());
  EXPECT_TRUE(prefixes_of("decode").empty());
  EXPECT_EQ(delivered_side("decode, resize(256), center_crop(224)"), 224);
  EXPECT_EQ(delivered_side("decode"), 0);
}

}  // namespace
}  // namespace dataline::cli::doctor_machine_test
