// Members of archives as Python's tarfile and GNU tar list them: whatever is accepted is read as they read it.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <sstream>

#include "core/source/tar/tar_members.h"
#include "tests/source/source_support.h"
#include "tests/support/places.h"
#include "tests/support/read_whole.h"

namespace dataline::tar_oracle_test {
namespace {

constexpr int kOriginals = 9;
constexpr int kMutated = 4000;

std::string hex(std::string_view bytes) {
  std::string out;
  for (unsigned char c : bytes) {
    out += "0123456789abcdef"[c >> 4];
    out += "0123456789abcdef"[c & 15];
  }
  return out.empty() ? "-" : out;
}

struct Listed {
  std::string by_tarfile, by_gnu;  // in the words of tar_oracle.py
  Status status = Status::ok();
};

Listed list_members(const std::string& path) {
  Listed out;
  Result<MappedFile> file = MappedFile::open(path, test_context());
  TarMembers members(file.value(), TarEnd::kRequired);
  TarMember member;
  for (;;) {
    Result<bool> found = members.next(member);
    if (!found.is_ok()) {
      out.status = found.take_status();
      return out;
    }
    if (!found.value()) return out;
    std::string_view name = member.name;
    out.by_gnu += concat(hex(name), " ", member.bytes, " ", member.directory ? "d" : "-", "\n");
    while (member.directory && name.ends_with('/')) name.remove_suffix(1);
    out.by_tarfile += concat(hex(name), " ", member.bytes, " ", member.data_offset, " ",
                             member.directory ? "d" : "f", "\n");
  }
}

class TarOracle : public ::testing::Test {
 protected:
  // Once for all tests: most of the time goes into GNU tar's processes.
  static void SetUpTestSuite() {
    dir_ = std::make_unique<TempDir>();
    const std::string script = tests::in_repository("tests/source/tar/tar_oracle.py") + " ";
    const char* seed = std::getenv("DATALINE_TAR_SEED");  // by hand: other damage than every day's
    const std::string words = concat(" ", kMutated, " ", seed == nullptr ? "23" : seed, " >/dev/null");
    ran_ = std::system(concat("python3 ", script, dir_->path(), words).c_str()) == 0;
  }
  static void TearDownTestSuite() { dir_.reset(); }
  void SetUp() override { ASSERT_TRUE(ran_) << "tar_oracle.py failed"; }

  static std::string path(int n, const char* suffix) { return dir_->path(std::to_string(n) + suffix); }

  static inline std::unique_ptr<TempDir> dir_;
  static inline bool ran_ = false;
};

TEST_F(TarOracle, ArchivesOfOthersAreListedAsTheyListThem) {
  for (int n = 0; n < kOriginals; ++n) {
    Listed listed = list_members(path(n, ".tar"));
    EXPECT_TRUE(listed.status.is_ok()) << n << ": " << listed.status.message();
    EXPECT_EQ(listed.by_tarfile, read_whole(path(n, ".list"))) << n;
    EXPECT_EQ(listed.by_gnu, read_whole(path(n, ".gnu"))) << n;
  }
}

TEST_F(TarOracle, WhateverIsAcceptedOfDamagedArchivesIsWhatTarfileReads) {
  int accepted = 0;
  for (int n = kOriginals; n < kOriginals + kMutated; ++n) {
    Listed listed = list_members(path(n, ".tar"));
    if (!listed.status.is_ok()) continue;
    ++accepted;
    EXPECT_EQ(listed.by_tarfile, read_whole(path(n, ".list"))) << n;
  }
  EXPECT_GE(accepted, kMutated / 20) << "some damage leaves an archive whole";
  EXPECT_LE(accepted, kMutated / 2);
  RecordProperty("accepted", accepted);
}

TEST_F(TarOracle, WhateverIsAcceptedOfDamagedArchivesIsWhatGnuTarReads) {
  int compared = 0;
  for (int n = kOriginals; n < kOriginals + kMutated; ++n) {
    std::ifstream there(path(n, ".gnu"));
    if (!there) break;
    Listed listed = list_members(path(n, ".tar"));
    if (!listed.status.is_ok()) continue;
    EXPECT_EQ(listed.by_gnu, read_whole(path(n, ".gnu"))) << n;
    ++compared;
  }
  EXPECT_GE(compared, 10);
  RecordProperty("compared", compared);
}

}  // namespace
}  // namespace dataline::tar_oracle_test
