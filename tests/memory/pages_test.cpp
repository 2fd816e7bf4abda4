// SPDX-License-Identifier: Apache-2.0
#include "core/memory/pages.h"

#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <limits>
#include <vector>

#include "tests/support/in_child.h"

namespace dataline::pages_test {
namespace {

int64_t resident_bytes() {
  int64_t total = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> total >> resident;
  return resident * page_bytes();
}

int64_t resident_pages(std::byte* data, int64_t bytes) {
  std::vector<unsigned char> present(static_cast<size_t>((bytes + page_bytes() - 1) / page_bytes()));
  if (::mincore(data, static_cast<size_t>(bytes), present.data()) != 0) return -1;
  return std::count_if(present.begin(), present.end(), [](unsigned char c) { return (c & 1) != 0; });
}

TEST(Pages, MapsAreAlignedZeroAndWritableToTheLastByte) {
  for (int64_t bytes : {int64_t{1}, int64_t{4096}, kHugePageBytes - 1, kHugePageBytes, kHugePageBytes + 1,
                        3 * kHugePageBytes / 2, 7 * kHugePageBytes + 12345}) {
    std::byte* data = map_huge_pages(bytes);
    ASSERT_NE(data, nullptr);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(data) % kHugePageBytes, 0u);
    EXPECT_EQ(std::count(data, data + bytes, std::byte{0}), bytes);
    std::fill_n(data, bytes, std::byte{0xff});
    unmap_huge_pages(data, bytes);
  }
}

TEST(Pages, UnmappingGivesBackAllOfIt) {
  int64_t bytes = 5 * kHugePageBytes + 100;
  std::byte* data = map_huge_pages(bytes);
  ASSERT_NE(data, nullptr);
  unmap_huge_pages(data, bytes);
  for (std::byte* at : {data, data + 5 * kHugePageBytes}) {
    EXPECT_EQ(resident_pages(at, 1), -1) << "nothing is mapped there any more";
  }
}

TEST(Pages, ManySmallMapsDoNotTakeALargePageEach) {
  constexpr int64_t kCount = 200, kBytes = 100000;
  std::vector<std::byte*> maps;
  int64_t before = resident_bytes();
  for (int64_t i = 0; i < kCount; ++i) {
    maps.push_back(map_huge_pages(kBytes));
    std::fill_n(maps.back(), kBytes, std::byte{1});
  }
  EXPECT_LT(resident_bytes() - before, kCount * (kHugePageBytes / 4));
  for (std::byte* data : maps) unmap_huge_pages(data, kBytes);
}

TEST(Pages, ImpossibleSizesAreNull) {
  EXPECT_EQ(map_huge_pages(0), nullptr);
  EXPECT_EQ(map_huge_pages(-1), nullptr);
  EXPECT_EQ(map_huge_pages(int64_t{1} << 55), nullptr);
  EXPECT_EQ(map_huge_pages(std::numeric_limits<int64_t>::max()), nullptr);
}

TEST(Pages, PrefaultMakesEveryPagePresentAndKeepsContents) {
  int64_t bytes = 64 * page_bytes();
  auto* data = static_cast<std::byte*>(::mmap(nullptr, static_cast<size_t>(bytes), PROT_READ | PROT_WRITE,
                                              MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(data, MAP_FAILED);
  data[10] = std::byte{42};
  EXPECT_LT(resident_pages(data, bytes), 64);
  ASSERT_TRUE(prefault(data + 5, bytes - 10).is_ok()) << "ends need not be page ends";
  EXPECT_EQ(resident_pages(data, bytes), 64);
  EXPECT_EQ(data[10], std::byte{42});
  EXPECT_EQ(std::count(data, data + bytes, std::byte{0}), bytes - 1);
  ::munmap(data, static_cast<size_t>(bytes));
}

TEST(Pages, PrefaultOfNothingIsNothing) { EXPECT_TRUE(prefault(nullptr, 0).is_ok()); }

TEST(Pages, PrefaultOfMemoryThatIsNotThereIsAnError) {
  int64_t bytes = 4 * page_bytes();
  std::byte* data = map_huge_pages(bytes);
  ASSERT_NE(data, nullptr);
  unmap_huge_pages(data, bytes);
  Status status = prefault(data, bytes);
  EXPECT_EQ(status.code(), Code::kNoMemory);
  EXPECT_NE(status.os_error(), 0);
}

// From here on madvise() of this process fails with `code`, as under a sandbox. False where that cannot be arranged.
bool refuse_madvise(int code) {
  sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_madvise, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | static_cast<unsigned>(code)),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  sock_fprog program = {4, filter};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

TEST(Pages, PrefaultTouchesPagesItselfWhereTheRequestIsRefused) {
  for (const int code : {EPERM, ENOSYS, EINVAL, EACCES}) {
    const int result = in_child([code] {
      const int64_t bytes = 3 * kHugePageBytes + 4096;
      std::byte* data = map_huge_pages(bytes);
      data[4096] = std::byte{7};
      if (!refuse_madvise(code)) return 77;
      if (!prefault(data, bytes).is_ok()) return 1;
      return data[4096] == std::byte{7} && resident_pages(data, bytes) * page_bytes() >= bytes ? 0 : 2;
    });
    if (result == 77) GTEST_SKIP() << "skipped: no system call filter may be set here";
    EXPECT_EQ(result, 0) << "errno " << code;
  }
}

TEST(Pages, PrefaultWithoutMemoryIsAnError) {
  for (const int code : {ENOMEM, EFAULT, EHWPOISON}) {
    const int result = in_child([code] {
      std::byte* data = map_huge_pages(4096);
      if (!refuse_madvise(code)) return 77;
      const Status status = prefault(data, 4096);
      return status.code() == Code::kNoMemory && status.os_error() == code ? 0 : 1;
    });
    if (result == 77) GTEST_SKIP() << "skipped: no system call filter may be set here";
    EXPECT_EQ(result, 0) << "errno " << code;
  }
}

TEST(Pages, AddressSpaceTakesAPageForATouchedByteAndGivesDiscardedPagesBack) {
  const int64_t bytes = int64_t{1} << 36;  // more than most machines have
  std::byte* data = map_address_space(bytes);
  ASSERT_NE(data, nullptr);
  const int64_t before = resident_bytes();
  for (int64_t at = 0; at < 100; ++at) data[at * kHugePageBytes + 5] = std::byte{1};
  EXPECT_LE(resident_bytes() - before, 200 * page_bytes());
  EXPECT_EQ(resident_pages(data, kHugePageBytes), 1);
  std::fill_n(data, 3 * page_bytes(), std::byte{1});
  discard_pages(data + 1, 3 * page_bytes() - 2);  // one whole page is inside
  EXPECT_EQ(resident_pages(data, kHugePageBytes), 2);
  EXPECT_EQ(data[page_bytes()], std::byte{0});
  EXPECT_EQ(data[0], std::byte{1});
  discard_pages(data + 1, page_bytes());  // none is
  EXPECT_EQ(data[page_bytes() - 1], std::byte{1});
  unmap_huge_pages(data, bytes);
  EXPECT_EQ(resident_pages(data, 1), -1);
}

}  // namespace
}  // namespace dataline::pages_test
