// What a host's log is told while a large set opens. The clock is this program's own, so that small sets are slow to it.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/source/folder/folder_files.h"
#include "tests/source/source_support.h"
#include "tests/source/tar/tar_files.h"
#include "tests/source/tfrecord/tfrecord_files.h"

namespace {
std::atomic<time_t> seconds_a_look{0};  // the clock stands still but for this
std::atomic<time_t> seconds{1000};
}  // namespace

// Before the C library's own.
extern "C" int clock_gettime(clockid_t clock, timespec* now) noexcept {
  if (clock != CLOCK_MONOTONIC) return static_cast<int>(syscall(SYS_clock_gettime, clock, now));
  *now = {seconds.fetch_add(seconds_a_look), 0};
  return 0;
}

namespace dataline::progress_test {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::StartsWith;

class Progress : public ::testing::Test {
 protected:
  ~Progress() override { seconds_a_look = 0; }

  // What was told while the set opened, without the folder it lies in.
  std::vector<std::string> told(const std::string& uri, IoMode io = IoMode::kAuto) {
    OpenContext context = test_context(io);
    context.log = {this, [](void* self, int32_t level, const char* message, size_t length) {
                     EXPECT_EQ(level, 0) << "DL_LOG_PROGRESS";
                     static_cast<Progress*>(self)->told_.emplace_back(message, length);
                   }};
    told_.clear();
    Result<SourceRef> source = open_source(uri, context);
    EXPECT_TRUE(source.is_ok()) << source.status().message();
    for (std::string& line : told_) {
      const size_t at = line.find(dir_.path() + "/");
      if (at != std::string::npos) line.erase(at, dir_.path().size() + 1);
    }
    return told_;
  }

  std::string tar_of(int members) {
    std::string bytes;
    for (int i = 0; i < members; ++i) bytes += tar_member(std::to_string(i) + ".jpg", "x");
    return dir_.write("set.tar", bytes + tar_end());
  }

  std::string list_of(int rows) {
    std::string csv = "path,label\n";
    for (int i = 0; i < rows; ++i) {
      csv += std::to_string(i) + ".jpg,0\n";
      dir_.write("pets/" + std::to_string(i) + ".jpg", "x");
    }
    return "folder:" + dir_.path("pets") + "?labels=" + dir_.write("list.csv", csv);
  }

  TempDir dir_;

 private:
  std::vector<std::string> told_;
};

TEST_F(Progress, OfAFolderCountsTheFilesFound) {
  write_pets(dir_);
  seconds_a_look = 1;
  const std::vector<std::string> lines = told("folder:" + dir_.path("pets"));
  ASSERT_THAT(lines, SizeIs(4)) << "one a directory: pets, cat, cat/x, dog";
  EXPECT_EQ(lines.front(), "indexing pets: begun");
  EXPECT_EQ(lines.back(), "indexing pets: 4 entries");
}

TEST_F(Progress, OfATarCountsMembersAndTheBytesSearched) {
  const std::string path = tar_of(4096);
  seconds_a_look = 1;
  const std::vector<std::string> lines = told("tar:" + path);
  ASSERT_THAT(lines, ::testing::Not(IsEmpty()));
  EXPECT_THAT(lines, ::testing::Each(StartsWith("indexing set.tar: ")));
  // A member is a header and a block; two blocks end the archive.
  EXPECT_THAT(lines, ::testing::Contains("indexing set.tar: 2048 entries, 2097152 of 4195328 bytes"));
}

TEST_F(Progress, OfRecordsCountsThemAndTheBytesSearched) {
  std::string bytes;
  for (int i = 0; i < 4096; ++i) bytes += record("");
  const std::string path = dir_.write("set.tfrecord", bytes);
  seconds_a_look = 1;
  EXPECT_THAT(told("tfrecord:" + path),
              ::testing::Contains("indexing set.tfrecord: 2048 entries, 32768 of 65536 bytes"));
}

TEST_F(Progress, OfAListCountsItsFiles) {
  const std::string uri = list_of(3000);
  seconds_a_look = 1;
  std::vector<std::string> lines = told(uri);
  for (std::string& line : lines) line = line.substr(0, line.find(" entries"));
  const std::string bytes =
      " of " + std::to_string(std::filesystem::file_size(dir_.path("list.csv"))) + " bytes";
  EXPECT_THAT(lines, ElementsAre("reading list.csv: 0" + bytes, ::testing::EndsWith(bytes),
                                 "indexing pets: 1024", "indexing pets: 2048"));
}

TEST_F(Progress, OfFilesReadIntoMemoryCountsThem) {
  write_pets(dir_);
  const std::string uri = "folder:" + dir_.path("pets");
  seconds_a_look = 1;
  EXPECT_THAT(told(uri, IoMode::kMemory),
              ::testing::IsSupersetOf(
                  {"reading pets: 4 entries, 64 of 256 bytes", "reading pets: 4 entries, 256 of 256 bytes"}))
      << "each file takes a multiple of 64 bytes";
}

TEST_F(Progress, OfManyFilesCountsThoseOpened) {
  for (const char* name : {"a", "b", "c"}) dir_.write(name, "xyz");
  const std::string uri =
      "raw:" + dir_.path("a") + "," + dir_.path("b") + "," + dir_.path("c") + "?dtype=u8&shape=1";
  seconds_a_look = 1;
  const std::vector<std::string> lines = told(uri);
  ASSERT_THAT(lines, SizeIs(3));
  for (size_t i = 0; i < 3; ++i) EXPECT_THAT(lines[i], EndsWith(": " + std::to_string(i) + " of 3 files"));
}

TEST_F(Progress, ASetThatOpensAtOnceSaysNothing) {
  write_pets(dir_);
  EXPECT_THAT(told("folder:" + dir_.path("pets")), IsEmpty());
  EXPECT_THAT(told("folder:" + dir_.path("pets"), IoMode::kMemory), IsEmpty());
  EXPECT_THAT(told("tar:" + tar_of(4096)), IsEmpty());
  EXPECT_THAT(told(list_of(3000)), IsEmpty());
}

}  // namespace
}  // namespace dataline::progress_test
