// What an open file gives, alike in every I/O mode.
// SPDX-License-Identifier: Apache-2.0
#include "core/memory/mapped_file.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cinttypes>
#include <cstdio>
#include <vector>

#include "core/memory/pages.h"
#include "tests/memory/temp_files.h"

namespace dataline::mapped_file_test {
namespace {

using testing::HasSubstr;

OpenContext context_for(IoMode io) {
  OpenContext context;
  context.memory = HostMemory::create({});
  context.io = io;
  return context;
}

std::string read_text(const MappedFile& file, int64_t offset, int64_t bytes) {
  std::string out(static_cast<size_t>(bytes), '\0');
  EXPECT_TRUE(file.read(offset, bytes, reinterpret_cast<std::byte*>(out.data())).is_ok());
  return out;
}

class MappedFileModes : public testing::TestWithParam<IoMode> {
 protected:
  MappedFile open(const std::string& path) { return MappedFile::open(path, context_for(GetParam())).take(); }
  TempDir dir_;
};

INSTANTIATE_TEST_SUITE_P(Io, MappedFileModes, testing::Values(IoMode::kMmap, IoMode::kPread, IoMode::kMemory),
                         [](const auto& mode) {
                           return std::string(mode.param == IoMode::kMmap    ? "Mmap"
                                              : mode.param == IoMode::kPread ? "Pread"
                                                                             : "Memory");
                         });

TEST_P(MappedFileModes, GivesTheFilesBytes) {
  std::string bytes = pattern_bytes(3 * page_bytes() + 17);
  MappedFile file = open(dir_.write("a", bytes));
  EXPECT_EQ(file.io(), GetParam());
  EXPECT_EQ(file.bytes(), static_cast<int64_t>(bytes.size()));
  EXPECT_EQ(file.file_bytes(), file.bytes());
  EXPECT_EQ(file.addressable(), GetParam() != IoMode::kPread);
  EXPECT_EQ(read_text(file, 0, file.bytes()), bytes);
  EXPECT_EQ(read_text(file, page_bytes() - 3, 7), bytes.substr(static_cast<size_t>(page_bytes()) - 3, 7));
  if (file.addressable()) {
    EXPECT_EQ(std::string(reinterpret_cast<const char*>(file.at(5)), 100), bytes.substr(5, 100));
  }
  EXPECT_TRUE(file.check_length().is_ok());
}

TEST_P(MappedFileModes, EmptyFileIsAFileOfZeroBytes) {
  MappedFile file = open(dir_.write("empty", ""));
  EXPECT_EQ(file.bytes(), 0);
  EXPECT_TRUE(file.addressable());
  EXPECT_EQ(read_text(file, 0, 0), "");
  EXPECT_TRUE(file.populate(0, 0).is_ok());
  EXPECT_TRUE(file.check_length().is_ok());
  EXPECT_TRUE(file.cached(0, 0));
  file.advise(0, 0);
}

TEST_P(MappedFileModes, RangesOutsideOfTheFileAreRefusedWithOffsetExpectedAndGot) {
  std::string path = dir_.write("a", pattern_bytes(100));
  MappedFile file = open(path);
  std::byte out[200];
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  for (auto [offset, bytes] : {std::pair<int64_t, int64_t>{90, 11},
                               {100, 1},
                               {101, 0},
                               {-1, 1},
                               {0, -1},
                               {kMost, 1},
                               {1, kMost},
                               {kMost, kMost}}) {
    EXPECT_EQ(file.read(offset, bytes, out).code(), Code::kTruncated) << offset << " " << bytes;
    EXPECT_EQ(file.populate(offset, bytes).code(), Code::kTruncated) << offset << " " << bytes;
    file.advise(offset, bytes);
    EXPECT_TRUE(file.cached(offset, bytes)) << "nothing can be told";
  }
  EXPECT_EQ(file.read(90, 11, out).message(), path + ": offset 90: expected 11 bytes, got 10");
}

TEST_P(MappedFileModes, AFileThatGrowsKeepsItsFirstSize) {
  std::string path = dir_.write("a", "0123456789");
  MappedFile file = open(path);
  std::ofstream(path, std::ios::app) << "more";
  EXPECT_TRUE(file.check_length().is_ok());
  EXPECT_EQ(file.bytes(), 10);
  EXPECT_EQ(read_text(file, 0, 10), "0123456789");
}

TEST_P(MappedFileModes, AFileReplacedUnderItsNameStaysTheOldOne) {
  std::string path = dir_.write("a", "old bytes of the file");
  MappedFile file = open(path);
  std::filesystem::rename(dir_.write("b", "new"), path);
  EXPECT_TRUE(file.check_length().is_ok());
  EXPECT_EQ(read_text(file, 0, 21), "old bytes of the file");
  std::filesystem::remove(path);
  EXPECT_TRUE(file.check_length().is_ok());
  EXPECT_EQ(read_text(file, 4, 5), "bytes");
}

TEST_P(MappedFileModes, MovingKeepsTheFileOpen) {
  MappedFile other = open(dir_.write("b", "abcdefghij"));
  const std::byte* data = other.addressable() ? other.at(0) : nullptr;
  MappedFile file(std::move(other));
  EXPECT_EQ(read_text(file, 0, 10), "abcdefghij");
  EXPECT_EQ(file.addressable() ? file.at(0) : nullptr, data);
  MappedFile third(std::move(file));
  EXPECT_EQ(read_text(third, 2, 3), "cde");
  EXPECT_THAT(third.path(), HasSubstr("/b"));
}

TEST_P(MappedFileModes, AdviceAndPopulateChangeNoBytes) {
  std::string bytes = pattern_bytes(1 << 20);
  MappedFile file = open(dir_.write("a", bytes));
  file.advise(12345, 700000);
  EXPECT_TRUE(file.populate(12345, 700000).is_ok());
  EXPECT_TRUE(file.cached(12345, 700000));
  EXPECT_EQ(read_text(file, 0, file.bytes()), bytes);
}

TEST_P(MappedFileModes, WhatTheCacheDroppedIsNotResidentUntilItIsPopulated) {
  std::string path = dir_.write("a", pattern_bytes(4 << 20));
  int fd = ::open(path.c_str(), O_RDONLY);
  ::fsync(fd);
  MappedFile file = open(path);
  ::posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
  ::close(fd);
  if (GetParam() == IoMode::kMemory) {
    EXPECT_TRUE(file.cached(1 << 20, 4096));
    return;
  }
  if (file.cached(1 << 20, 4096)) GTEST_SKIP() << "this file system keeps its pages";
  std::string out = read_text(file, 1 << 20, 4096);
  EXPECT_TRUE(file.cached(1 << 20, 4096));
}

TEST(MappedFile, AutoMapsLocalFiles) {
  TempDir dir;
  MappedFile file = MappedFile::open(dir.write("a", "x"), context_for(IoMode::kAuto)).take();
  EXPECT_EQ(file.io(), IoMode::kMmap);
}

TEST(MappedFile, AutoReadsWhatCannotBeMapped) {
  // Files of /sys refuse maps (ENODEV); they also claim a page and hold less.
  const std::string path = "/sys/kernel/mm/transparent_hugepage/enabled";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << path << " is not there";
  Result<MappedFile> file = MappedFile::open(path, context_for(IoMode::kAuto));
  ASSERT_TRUE(file.is_ok());
  EXPECT_EQ(file.value().io(), IoMode::kPread);
  std::string out(static_cast<size_t>(file.value().bytes()), '\0');
  EXPECT_EQ(file.value().read(0, file.value().bytes(), reinterpret_cast<std::byte*>(out.data())).code(),
            Code::kTruncated);
  EXPECT_FALSE(MappedFile::open(path, context_for(IoMode::kMmap)).is_ok());
}

TEST(MappedFile, MemoryModeIsCountedAndRefusedPastTheLimit) {
  TempDir dir;
  std::string path = dir.write("a", pattern_bytes(100000));
  OpenContext context = context_for(IoMode::kMemory);
  {
    MappedFile file = MappedFile::open(path, context).take();
    EXPECT_EQ(context.memory->in_use_bytes(), 100000);
  }
  EXPECT_EQ(context.memory->in_use_bytes(), 0);
  context.memory = HostMemory::create({}, 99999);
  Result<MappedFile> file = MappedFile::open(path, context);
  ASSERT_FALSE(file.is_ok());
  EXPECT_EQ(file.status().code(), Code::kOverBudget);
  EXPECT_THAT(file.status().message(), HasSubstr(path));
}

TEST(MappedFile, LoadingIntoMemoryCanBeCancelled) {
  TempDir dir;
  OpenContext context = context_for(IoMode::kMemory);
  context.cancel = std::make_shared<CancelToken>();
  context.cancel->cancel();
  Result<MappedFile> file = MappedFile::open(dir.write("a", "x"), context);
  ASSERT_FALSE(file.is_ok());
  EXPECT_EQ(file.status().code(), Code::kCancelled);
  EXPECT_EQ(context.memory->in_use_bytes(), 0);
}

TEST(MappedFile, LongLoadsTellHowFarTheyAre) {
  TempDir dir;
  std::string path = dir.write("a", "");
  ASSERT_EQ(::truncate(path.c_str(), 150 << 20), 0) << "a sparse file: zeros without disk space";
  std::vector<std::string> lines;
  OpenContext context = context_for(IoMode::kMemory);
  context.log = {&lines, [](void* to, int32_t level, const char* message, size_t length) {
                   EXPECT_EQ(level, static_cast<int32_t>(LogLevel::kProgress));
                   static_cast<std::vector<std::string>*>(to)->emplace_back(message, length);
                 }};
  ASSERT_TRUE(MappedFile::open(path, context).is_ok());
  // Where they are told depends on the clock too, so only the most that lies between two lines is sure.
  int64_t told = 0;
  for (const std::string& line : lines) {
    int64_t now = 0;
    const std::string from = concat("reading ", path, ": %", PRId64, " of 157286400 bytes");
    ASSERT_EQ(std::sscanf(line.c_str(), from.c_str(), &now), 1) << line;
    EXPECT_GT(now, told);
    EXPECT_LE(now - told, 64 << 20);
    told = now;
  }
  EXPECT_GE(told, (150 - 64) << 20);
}

TEST(MappedFile, FromBlockIsAFileInMemory) {
  auto memory = HostMemory::create({});
  Block block = memory->allocate(100, 64, MemoryKind::kData, "inflated").take();
  std::fill_n(block.data(), 100, std::byte{'x'});
  MappedFile file = MappedFile::from_block({"/data/a.gz", {.bytes = 33}}, std::move(block), 90).take();
  EXPECT_EQ(file.io(), IoMode::kMemory);
  EXPECT_EQ(file.bytes(), 90);
  EXPECT_EQ(file.file_bytes(), 33);
  EXPECT_EQ(file.path(), "/data/a.gz");
  EXPECT_EQ(read_text(file, 80, 10), std::string(10, 'x'));
  EXPECT_TRUE(file.check_length().is_ok());
  Block small = memory->allocate(10, 64, MemoryKind::kData, "inflated").take();
  EXPECT_EQ(MappedFile::from_block({"b", {.bytes = 5}}, std::move(small), 11).status().code(),
            Code::kInternal);
}

}  // namespace
}  // namespace dataline::mapped_file_test
