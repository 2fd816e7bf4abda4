// A guarded range whose pages are gone: which parts of it zeros came into, and how the file's own pages come back.
// SPDX-License-Identifier: Apache-2.0
#include "core/memory/fault_guard.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>

#include "core/memory/pages.h"
#include "tests/memory/temp_files.h"

namespace {
int maps_over_others;  // calls of mmap that replaced what was there
}

// Stands before the C library's own.
extern "C" void* mmap(void* begin, size_t bytes, int protection, int flags, int fd, off_t offset) noexcept {
  static auto* const real =
      reinterpret_cast<void* (*)(void*, size_t, int, int, int, off_t)>(dlsym(RTLD_NEXT, "mmap"));
  maps_over_others += (flags & MAP_FIXED) != 0 ? 1 : 0;
  return real(begin, bytes, protection, flags, fd, offset);
}

namespace dataline::fault_guard_test {
namespace {

constexpr int64_t kPages = 4;

// A file of four pages, mapped and guarded. Without its descriptor the guard replaces one page at a time.
class GuardedMap : public testing::Test {
 protected:
  GuardedMap() : path_(dir_.write("file", bytes_)), fd_(::open(path_.c_str(), O_RDWR | O_CLOEXEC)) {
    void* const map = ::mmap(nullptr, bytes_.size(), PROT_READ, MAP_SHARED, fd_, 0);
    EXPECT_NE(map, MAP_FAILED);
    data_ = static_cast<std::byte*>(map);
    Result<GuardedRange> range = GuardedRange::add(data_, kPages * page_, -1, Log());
    EXPECT_TRUE(range.is_ok()) << range.status().message();
    range_ = range.take();
    maps_over_others = 0;
  }
  ~GuardedMap() override {
    range_ = GuardedRange();
    ::munmap(data_, bytes_.size());
    ::close(fd_);
  }

  std::byte load(int64_t offset) const { return std::atomic_ref<std::byte>(data_[offset]).load(); }
  std::byte in_file(int64_t offset) const {
    return static_cast<std::byte>(bytes_[static_cast<size_t>(offset)]);
  }
  void cut_to(int64_t bytes) const { EXPECT_EQ(::ftruncate(fd_, bytes), 0); }
  void write_again() const {
    EXPECT_EQ(::pwrite(fd_, bytes_.data(), bytes_.size(), 0), static_cast<ssize_t>(bytes_.size()));
  }
  bool faulted(int64_t offset, int64_t bytes) const { return range_.faulted(1, offset, bytes); }

  const int64_t page_ = page_bytes();
  const std::string bytes_ = pattern_bytes(kPages * page_);
  TempDir dir_;
  std::string path_;
  int fd_;
  std::byte* data_ = nullptr;
  GuardedRange range_;
};

TEST_F(GuardedMap, OnlyWhatTouchesAPageOfZerosIsFaulted) {
  cut_to(page_);
  EXPECT_FALSE(range_.faulted(1));
  EXPECT_EQ(load(2 * page_ + 7), std::byte{0});
  EXPECT_TRUE(range_.faulted(1));
  EXPECT_TRUE(faulted(0, kPages * page_));
  EXPECT_TRUE(faulted(2 * page_, 1));
  EXPECT_TRUE(faulted(3 * page_ - 1, 1));
  EXPECT_TRUE(faulted(2 * page_ - 1, 2));
  EXPECT_FALSE(faulted(0, 2 * page_)) << "ends where the page begins";
  EXPECT_FALSE(faulted(3 * page_, page_)) << "begins where the page ends";
}

TEST_F(GuardedMap, HealingBringsTheFilesPagesBackOnceAndElseDoesNothing) {
  range_.heal(fd_);
  EXPECT_EQ(maps_over_others, 0) << "no zeros came yet";
  cut_to(page_);
  EXPECT_EQ(load(2 * page_ + 7), std::byte{0});
  write_again();
  EXPECT_EQ(load(2 * page_ + 7), std::byte{0}) << "the zeros stay until they are healed";
  range_.heal(-1);
  EXPECT_EQ(maps_over_others, 0) << "not without the file";
  range_.heal(fd_);
  EXPECT_EQ(maps_over_others, 1);
  for (int64_t at = 0; at < kPages * page_; at += 97) ASSERT_EQ(load(at), in_file(at)) << at;
  range_.heal(fd_);
  EXPECT_EQ(maps_over_others, 1) << "no zeros came since";
  EXPECT_TRUE(faulted(2 * page_, 1)) << "what was read before stays in doubt";
}

TEST_F(GuardedMap, HealingWorksWithDescriptorZeroToo) {
  cut_to(page_);
  EXPECT_EQ(load(2 * page_ + 7), std::byte{0});
  write_again();
  const int input = ::dup(0);
  ASSERT_EQ(::dup2(fd_, 0), 0);
  range_.heal(0);
  input >= 0 ? ::dup2(input, 0) : ::close(0);
  ::close(input);
  EXPECT_EQ(load(2 * page_ + 7), in_file(2 * page_ + 7));
}

}  // namespace
}  // namespace dataline::fault_guard_test
