// Files that shrink under a source: rows that are gone fail by name, the others come, and no signal does.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <thread>

#include "core/source/idx/idx.h"
#include "core/source/open.h"
#include "tests/source/located.h"

namespace dataline::flat_file_faults_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr int64_t kRecordBytes = 3000;
constexpr int64_t kCount = 100;

class ShrunkSource : public testing::Test {
 protected:
  ShrunkSource() : bytes_(pattern_bytes(kRecordBytes * kCount)), path_(dir_.write("shard.bin", bytes_)) {}

  SourceRef open(IoMode io) {
    dir_.write("shard.bin", bytes_);
    return open_source(concat("raw:", path_, "?dtype=u8&shape=", kRecordBytes), context_for(io)).take();
  }
  void cut(int64_t bytes) { ASSERT_EQ(::truncate(path_.c_str(), bytes), 0); }

  TempDir dir_;
  std::string bytes_;
  std::string path_;
};

TEST_F(ShrunkSource, RowsBeyondTheNewEndFailByNameAndTheOthersAreDelivered) {
  for (IoMode io : {IoMode::kMmap, IoMode::kPread}) {
    for (bool cold : {false, true}) {
      SourceRef source = open(io);
      cut(50 * kRecordBytes + 10);
      Located run(*source, {2, 50, 99, 49}, {.cold = cold, .opened_ns = monotonic_ns()});
      ASSERT_EQ(run.errors().all().size(), 2u);
      const Status& status = run.errors().all()[0].status;
      EXPECT_EQ(run.errors().all()[0].row, 1);
      EXPECT_EQ(status.code(), Code::kTruncated);
      EXPECT_EQ(status.sample_index(), 50);
      EXPECT_THAT(status.message(),
                  AllOf(HasSubstr(path_), HasSubstr("offset 150000: expected 3000 bytes, got 10;"),
                        HasSubstr("the file had 300000 bytes when it was opened and has 150010 now")));
      EXPECT_EQ(run.errors().all()[1].row, 2);
      EXPECT_TRUE(run.field(0, 0) == bytes_.substr(2 * kRecordBytes, kRecordBytes));
      EXPECT_TRUE(run.field(0, 3) == bytes_.substr(49 * kRecordBytes, kRecordBytes));
      EXPECT_EQ(run.field(0, 1), "(failed)");
      EXPECT_FALSE(run.contiguous(0));
    }
  }
}

TEST_F(ShrunkSource, NeighboursFailOneByOneToo) {
  for (IoMode io : {IoMode::kMmap, IoMode::kPread}) {
    SourceRef source = open(io);
    cut(3 * kRecordBytes);
    Located run(*source, {0, 1, 2, 3, 4}, {.contiguous = true, .opened_ns = monotonic_ns()});
    ASSERT_EQ(run.errors().all().size(), 2u);
    EXPECT_EQ(run.errors().all()[0].row, 3);
    EXPECT_EQ(run.errors().all()[1].row, 4);
    EXPECT_TRUE(run.field(0, 2) == bytes_.substr(2 * kRecordBytes, kRecordBytes));
    EXPECT_FALSE(run.contiguous(0));
  }
}

TEST_F(ShrunkSource, ConvertedColumnsSkipFailedRows) {
  TempDir dir;
  std::string path = dir.path("a.idx");
  for (IoMode io : {IoMode::kMmap, IoMode::kPread}) {
    dir.write("a.idx", std::string("\0\0\x0b\x02", 4) + big_u32(3) + big_u32(2) + "abcdefghijkl");
    SourceRef source = open_idx(path, context_for(io)).take();
    ASSERT_EQ(::truncate(path.c_str(), 12 + 4), 0);
    Located run(*source, {2, 0, 1}, {.opened_ns = monotonic_ns()});
    EXPECT_EQ(run.field(0, 0), "(failed)");
    EXPECT_EQ(run.field(0, 1), "badc");
    EXPECT_EQ(run.field(0, 2), "(failed)");
    EXPECT_FALSE(run.contiguous(0));
  }
}

TEST_F(ShrunkSource, TheSizeIsLookedAtOnceForEachBatch) {
  SourceRef source = open(IoMode::kMmap);
  const int64_t older_ns = monotonic_ns(), batch_ns = older_ns + 1;
  EXPECT_TRUE(Located(*source, {0, 99}, {.opened_ns = batch_ns}).errors().empty());
  cut(0);
  // Only the pointers are asked for: reading through them now would be the gap that the header warns of.
  EXPECT_TRUE(Located(*source, {0, 99}, {.opened_ns = batch_ns}).errors().empty());
  EXPECT_TRUE(Located(*source, {0, 99}, {.opened_ns = older_ns}).errors().empty()) << "an older batch";
  const int64_t newer_ns = monotonic_ns();
  EXPECT_EQ(Located(*source, {0, 99}, {.opened_ns = newer_ns}).errors().all().size(), 2u);
  EXPECT_EQ(Located(*source, {5}, {.opened_ns = newer_ns}).errors().all().size(), 1u)
      << "a check that failed is made again";
}

TEST_F(ShrunkSource, AFileInMemoryDeliversAll) {
  SourceRef source = open(IoMode::kMemory);
  cut(0);
  EXPECT_TRUE(all_samples(*source) == bytes_);
}

TEST_F(ShrunkSource, AFileThatComesBackIsReadAgain) {
  for (IoMode io : {IoMode::kMmap, IoMode::kPread}) {
    SourceRef source = open(io);
    cut(0);
    EXPECT_EQ(Located(*source, {9}, {.opened_ns = monotonic_ns()}).errors().all().size(), 1u);
    std::ofstream(path_, std::ios::binary) << bytes_;  // into the same file
    EXPECT_TRUE(Located(*source, {9}, {.opened_ns = monotonic_ns()}).field(0, 0) ==
                bytes_.substr(9 * kRecordBytes, kRecordBytes));
  }
}

// A child locates cold rows while a thread cuts and restores the file; SIGBUS would end the child with 135.
TEST_F(ShrunkSource, ColdRunsOutliveAFileThatIsCutAndRestoredUnderThem) {
  for (IoMode io : {IoMode::kMmap, IoMode::kPread}) {
    int result = in_child([&] {
      ::signal(SIGBUS, SIG_DFL);
      SourceRef source = open(io);
      std::atomic<bool> done{false};
      std::thread writer([&] {
        uint32_t state = 1;
        while (!done.load()) {
          state = state * 1664525u + 1013904223u;
          if (::truncate(path_.c_str(), state % (kRecordBytes * kCount)) != 0) return;
          if (::truncate(path_.c_str(), kRecordBytes * kCount) != 0) return;
        }
      });
      int errors = 0, others = 0;
      // On a busy machine the writer may come to its turn late.
      for (int64_t stamp = 1; stamp < 3000 || (errors == 0 && stamp < 10'000'000); ++stamp) {
        Located run(*source, {stamp % kCount, (stamp * 7) % kCount},
                    {.cold = true, .opened_ns = monotonic_ns()});
        for (const RowError& error : run.errors().all()) {
          Code code = error.status.code();
          code == Code::kTruncated || code == Code::kChanged ? ++errors : ++others;
        }
      }
      done.store(true);
      writer.join();
      return others > 0 ? 1 : errors == 0 ? 2 : 0;
    });
    EXPECT_EQ(result, 0) << "1: another error; 2: none seen; 135: killed by SIGBUS";
  }
}

}  // namespace
}  // namespace dataline::flat_file_faults_test
