// Files that are not in memory: a record's pages are read and no others, and what is advised arrives.
// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <vector>

#include "core/memory/mapped_file.h"
#include "core/memory/pages.h"
#include "tests/memory/temp_files.h"

namespace dataline::mapped_file_cold_test {
namespace {

constexpr int64_t kFileBytes = 8 << 20;

class ColdFile : public testing::Test {
 protected:
  ColdFile() : path_(dir_.write("cold.bin", pattern_bytes(kFileBytes))) {}

  // False where pages stay: a file system that is memory, or no write-back yet.
  bool drop() const {
    const int fd = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC);
    ::fsync(fd);
    ::posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
    ::close(fd);
    return resident_pages() == 0;
  }
  int64_t resident_pages() const {
    const int fd = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC);
    void* map = ::mmap(nullptr, kFileBytes, PROT_READ, MAP_SHARED, fd, 0);
    ::close(fd);
    std::vector<unsigned char> pages(static_cast<size_t>(kFileBytes / page_bytes()));
    EXPECT_EQ(::mincore(map, kFileBytes, pages.data()), 0);
    ::munmap(map, kFileBytes);
    int64_t count = 0;
    for (const unsigned char page : pages) count += page & 1;
    return count;
  }
  MappedFile open() const {
    OpenContext context;
    context.memory = HostMemory::create({});
    context.io = IoMode::kMmap;
    return MappedFile::open(path_, context).take();
  }

  TempDir dir_;
  std::string path_;
};

TEST_F(ColdFile, ARecordBringsItsOwnPagesAndNotTheDevicesReadAhead) {
  if (!drop()) GTEST_SKIP() << "pages of this file system cannot be dropped";
  const MappedFile file = open();
  const int64_t offset = 3 << 20;
  EXPECT_FALSE(file.cached(offset, 100));
  ASSERT_TRUE(file.populate(offset, 100).is_ok());
  EXPECT_TRUE(file.cached(offset, 100));
  // A kernel with large folios may bring a few; the read-ahead windows seen are 128 KiB to 8 MiB.
  EXPECT_LE(resident_pages() * page_bytes(), 64 << 10);
}

TEST_F(ColdFile, WhatIsAdvisedIsTheExactRange) {
  if (!drop()) GTEST_SKIP() << "pages of this file system cannot be dropped";
  const MappedFile file = open();
  const int64_t offset = 1 << 20, bytes = 1 << 20;
  file.advise(offset, bytes);
  ASSERT_TRUE(file.populate(offset, bytes).is_ok());  // waits for what is under way
  const int64_t brought = resident_pages() * page_bytes();
  EXPECT_GE(brought, bytes);
  EXPECT_LE(brought, bytes + (64 << 10));
}

}  // namespace
}  // namespace dataline::mapped_file_cold_test
