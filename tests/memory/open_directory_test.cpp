// A directory held open: what messages call its files, and how many descriptors a file takes.
// SPDX-License-Identifier: Apache-2.0
#include "core/memory/open_directory.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <optional>

#include "tests/memory/open_files.h"
#include "tests/memory/temp_files.h"

namespace dataline::open_directory_test {
namespace {

constexpr size_t kLongestShown = 288;  // names up to here stand whole in messages
constexpr size_t kShownOfLonger = 96;  // of either end

OpenDirectory opened(const TempDir& dir) { return OpenDirectory::open(dir.path("")).take(); }

TEST(OpenDirectory, NamesUpToALimitAreShownWholeAndLongerOnesByTheirEnds) {
  TempDir dir;
  const OpenDirectory directory = opened(dir);
  const std::string folder = dir.path("");
  std::string name;
  while (name.size() < kLongestShown) name += static_cast<char>('a' + name.size() % 26);
  EXPECT_EQ(directory.path_of(""), folder);
  EXPECT_EQ(directory.path_of("x/y.png"), folder + "x/y.png");
  EXPECT_EQ(directory.path_of(name), folder + name);
  name += 'z';
  EXPECT_EQ(directory.path_of(name), concat(folder, name.substr(0, kShownOfLonger), "[...]",
                                            name.substr(name.size() - kShownOfLonger)));
}

// After an open that the kernel asks to be tried again errno stays what it was.
TEST(OpenDirectory, AFileTakesOneDescriptorWhateverErrnoWasBefore) {
  TempDir dir;
  dir.write("inside/a.bin", "abc");
  const OpenDirectory directory = opened(dir);
  const int64_t before = open_files();
  for (const Links links : {Links::kBeneath, Links::kFollow}) {
    std::optional<FileHandle> file;
    for (const int stale : {0, EAGAIN, EINTR}) {
      file.reset();
      errno = stale;
      Result<FileHandle> got = directory.open_file("inside/a.bin", links);
      ASSERT_TRUE(got.is_ok()) << got.status().message();
      file.emplace(got.take());
      EXPECT_EQ(open_files(), before + 1) << stale;
      EXPECT_EQ(file->bytes(), 3);
    }
  }
  EXPECT_EQ(open_files(), before);
}

TEST(OpenDirectory, WhatIsNotThereOrLeadsOutTakesNoDescriptor) {
  TempDir dir, outside;
  std::filesystem::create_symlink(outside.write("b.bin", "b"), dir.path("out"));
  const OpenDirectory directory = opened(dir);
  const int64_t before = open_files();
  EXPECT_EQ(directory.open_file("none", Links::kBeneath).status().code(), Code::kNotFound);
  EXPECT_EQ(directory.open_file("out", Links::kBeneath).status().code(), Code::kPermission);
  EXPECT_EQ(open_files(), before);
}

}  // namespace
}  // namespace dataline::open_directory_test
