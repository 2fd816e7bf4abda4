// Files that shrink while they are open: an error that names file and offset, never a signal, never zeros.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <thread>

#include "core/memory/mapped_file.h"
#include "core/memory/pages.h"
#include "tests/memory/temp_files.h"

namespace dataline::mapped_file_faults_test {
namespace {

using testing::HasSubstr;

OpenContext context_for(IoMode io) {
  OpenContext context;
  context.memory = HostMemory::create({});
  context.io = io;
  return context;
}

class ShrunkFile : public testing::Test {
 protected:
  ShrunkFile() : bytes_(pattern_bytes(4 * page_bytes())), path_(dir_.write("shard.bin", bytes_)) {}

  MappedFile open(IoMode io) { return MappedFile::open(path_, context_for(io)).take(); }
  void cut(int64_t bytes) { ASSERT_EQ(::truncate(path_.c_str(), bytes), 0); }

  TempDir dir_;
  std::string bytes_;
  std::string path_;
};

TEST_F(ShrunkFile, CheckNamesTheNewEndAndBothSizes) {
  for (IoMode io : {IoMode::kMmap, IoMode::kPread}) {
    dir_.write("shard.bin", bytes_);
    MappedFile file = open(io);
    int64_t page = page_bytes();
    cut(page + 1);
    Status status = file.check_length();
    EXPECT_EQ(status.code(), Code::kTruncated);
    EXPECT_EQ(status.message(), concat(path_, ": offset ", page + 1, ": expected ", 3 * page - 1,
                                       " bytes, got 0; the file had ", 4 * page,
                                       " bytes when it was opened and has ", page + 1, " now"));
  }
}

TEST_F(ShrunkFile, PopulateOfMissingPagesIsAnErrorInsteadOfASignal) {
  MappedFile file = open(IoMode::kMmap);
  int64_t page = page_bytes();
  cut(page);
  Status status = file.populate(2 * page, 100);
  EXPECT_EQ(status.code(), Code::kTruncated);
  EXPECT_THAT(status.message(),
              HasSubstr(concat(path_, ": offset ", 2 * page, ": expected 100 bytes, got 0;")));
  EXPECT_TRUE(file.populate(0, page).is_ok()) << "what is still there can be read";
}

TEST_F(ShrunkFile, PopulateSeesACutInsideOfAPageThatStaysMapped) {
  MappedFile file = open(IoMode::kMmap);
  cut(100);
  EXPECT_EQ(file.at(0)[150], std::byte{0}) << "the kernel shows zeros there, and raises nothing";
  Status status = file.populate(50, 100);
  EXPECT_EQ(status.code(), Code::kTruncated);
  EXPECT_THAT(status.message(), HasSubstr(": offset 50: expected 100 bytes, got 50;"));
  EXPECT_TRUE(file.populate(0, 100).is_ok());
}

TEST_F(ShrunkFile, ReadNamesWhatIsMissingInEveryModeThatReads) {
  for (IoMode io : {IoMode::kMmap, IoMode::kPread}) {
    dir_.write("shard.bin", bytes_);
    MappedFile file = open(io);
    cut(page_bytes() + 10);
    std::byte out[64];
    Status status = file.read(page_bytes(), 64, out);
    EXPECT_EQ(status.code(), Code::kTruncated);
    EXPECT_THAT(status.message(),
                HasSubstr(concat(path_, ": offset ", page_bytes(), ": expected 64 bytes, got 10;")));
    EXPECT_TRUE(file.read(page_bytes(), 10, out).is_ok()) << "the rest can be read";
  }
}

TEST_F(ShrunkFile, AFileInMemoryDoesNotNotice) {
  MappedFile file = open(IoMode::kMemory);
  cut(0);
  EXPECT_TRUE(file.check_length().is_ok());
  EXPECT_TRUE(file.populate(0, file.bytes()).is_ok());
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(file.at(0)), bytes_.size()), bytes_);
}

TEST_F(ShrunkFile, LoadingAFileThatIsCutMeanwhileIsAnError) {
  // A file of /proc claims nothing and one of /sys a page, whatever they hold: the load ends early.
  const std::string path = "/sys/kernel/mm/transparent_hugepage/enabled";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << path << " is not there";
  Result<MappedFile> file = MappedFile::open(path, context_for(IoMode::kMemory));
  ASSERT_FALSE(file.is_ok());
  EXPECT_EQ(file.status().code(), Code::kTruncated);
}

// A writer cuts and restores the file all the time while readers populate and read: whatever they get is the
// file's bytes, kTruncated, or kChanged where the writer is too fast. In a child, because a signal would end
// the test.
TEST_F(ShrunkFile, ReadersOutliveAFileThatIsCutAndRestoredUnderThem) {
  for (IoMode io : {IoMode::kMmap, IoMode::kPread}) {
    dir_.write("shard.bin", bytes_);
    int result = in_child([&] {
      ::signal(SIGBUS, SIG_DFL);
      MappedFile file = open(io);
      std::atomic<bool> done{false};
      std::thread writer([&] {
        uint32_t state = 1;
        while (!done.load()) {
          state = state * 1664525u + 1013904223u;
          if (::truncate(path_.c_str(), state % bytes_.size()) != 0) return;
        }
      });
      int errors = 0, others = 0;
      // On a busy machine the writer may come to its turn late.
      for (int64_t i = 0; i < 5000 || (errors == 0 && i < 100'000'000); ++i) {
        int64_t offset = (i * 977) % (file.bytes() - 100);
        Status status = file.populate(offset, 100);
        if (status.is_ok()) status = file.check_length();
        if (status.is_ok()) continue;
        status.code() == Code::kTruncated || status.code() == Code::kChanged ? ++errors : ++others;
      }
      done.store(true);
      writer.join();
      return others > 0 ? 1 : errors == 0 ? 2 : 0;
    });
    EXPECT_EQ(result, 0) << "1: another error; 2: none seen; 135: killed by SIGBUS";
  }
}

// The kernel sets the modification time of a file that grows before its length: one look in three or four that falls
// on the growth sees the new time with the old length.
TEST_F(ShrunkFile, AFileThatGrowsIsNeverTakenForOneThatWasModifiedInPlace) {
  for (IoMode io : {IoMode::kMmap, IoMode::kPread}) {
    for (int round = 0; round < 300; ++round) {
      cut(static_cast<int64_t>(bytes_.size()));
      MappedFile file = open(io);
      std::atomic<bool> looking{false}, grown{false};
      std::thread writer([&] {
        while (!looking.load()) {
        }
        EXPECT_EQ(::truncate(path_.c_str(), static_cast<off_t>(bytes_.size() + 1)), 0);
        grown.store(true);
      });
      Status bad;
      do {
        Status status = file.change_since_open().status;
        if (!status.is_ok() && bad.is_ok()) bad = status;
        looking.store(true);
      } while (!grown.load());
      writer.join();
      ASSERT_TRUE(bad.is_ok()) << "round " << round << ": " << bad.message();
    }
  }
}

}  // namespace
}  // namespace dataline::mapped_file_faults_test
