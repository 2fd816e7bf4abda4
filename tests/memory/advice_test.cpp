// What the kernel is asked to read ahead: the bytes that were named, piece by piece, and nothing else.
// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "core/memory/mapped_file.h"
#include "core/memory/open_directory.h"
#include "core/memory/pages.h"
#include "tests/memory/temp_files.h"

namespace dataline::advice_test {
namespace {

using Pieces =
    std::vector<std::pair<int64_t, int64_t>>;  // offset, bytes; of no bytes: to the end of the file
Pieces asked_for;

}  // namespace
}  // namespace dataline::advice_test

// Stands before the C library's own.
extern "C" int posix_fadvise(int fd, off_t offset, off_t bytes, int advice) noexcept {
  static auto* const real =
      reinterpret_cast<int (*)(int, off_t, off_t, int)>(dlsym(RTLD_NEXT, "posix_fadvise"));
  if (advice == POSIX_FADV_WILLNEED) dataline::advice_test::asked_for.emplace_back(offset, bytes);
  return real(fd, offset, bytes, advice);
}

namespace dataline::advice_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

class Advice : public testing::Test {
 protected:
  Advice() { asked_for.clear(); }

  Pieces of_whole_file(int64_t bytes, int64_t read_ahead_bytes) {
    dir_.write("file", pattern_bytes(bytes));
    const OpenDirectory directory = OpenDirectory::open(dir_.path("")).take();
    asked_for.clear();
    directory.open_file("file", Links::kBeneath).take().advise(read_ahead_bytes);
    return asked_for;
  }
  MappedFile open(int64_t bytes) const {
    OpenContext context;
    context.memory = HostMemory::create({});
    context.io = IoMode::kPread;
    return MappedFile::open(dir_.write("file", pattern_bytes(bytes)), context).take();
  }

  TempDir dir_;
};

TEST_F(Advice, OfAWholeFileIsItsPiecesAndNoneBehindItsEnd) {
  EXPECT_THAT(of_whole_file(8192, 4096), ElementsAre(Pair(0, 4096), Pair(4096, 4096)));
  EXPECT_THAT(of_whole_file(8193, 4096), ElementsAre(Pair(0, 4096), Pair(4096, 4096), Pair(8192, 1)));
  EXPECT_THAT(of_whole_file(100, 4096), ElementsAre(Pair(0, 100)));
  EXPECT_THAT(of_whole_file(0, 4096), IsEmpty());
}

TEST_F(Advice, OfARangeBeginsWithItsPageAndEndsWithItsLastByte) {
  const int64_t page = page_bytes();
  const MappedFile file = open(3 * page);
  file.advise(page + 10, 100);
  EXPECT_THAT(asked_for, ElementsAre(Pair(page, 110)));
}

TEST_F(Advice, OfNothingOrOfWhatTheFileDoesNotHaveAsksForNothing) {
  const int64_t page = page_bytes();
  const MappedFile file = open(3 * page);
  for (const auto& [offset, bytes] :
       Pieces{{0, 0}, {page + 10, 0}, {page + 10, -5}, {-1, 10}, {3 * page - 10, 11}, {4 * page, 1}})
    file.advise(offset, bytes);
  EXPECT_THAT(asked_for, IsEmpty());
}

}  // namespace
}  // namespace dataline::advice_test
