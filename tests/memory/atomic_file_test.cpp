// Files written whole or not at all: the temporary file's name, and what is left behind of one that is given up.
// SPDX-License-Identifier: Apache-2.0
#include "core/memory/atomic_file.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <filesystem>

#include "tests/memory/open_files.h"
#include "tests/memory/temp_files.h"

namespace dataline::atomic_file_test {
namespace {

constexpr int kNames = 101;  // that are tried: .new0 to .new100

Bytes bytes_of(const std::string& text) {
  return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
}

TEST(AtomicFile, GivenUpLeavesNeitherFileNorDescriptor) {
  TempDir dir;
  const int64_t before = open_files();
  for (int i = 0; i < 3; ++i) {
    Result<AtomicFile> file = AtomicFile::create(dir.path("index"));
    ASSERT_TRUE(file.is_ok()) << file.status().message();
    EXPECT_TRUE(file.value().write(bytes_of("half of it")).is_ok());
    EXPECT_EQ(open_files(), before + 1);
  }
  EXPECT_EQ(open_files(), before);
  EXPECT_TRUE(std::filesystem::is_empty(dir.path("")));
}

TEST(AtomicFile, CommittedIsTheFileAndClosed) {
  TempDir dir;
  const int64_t before = open_files();
  AtomicFile file = AtomicFile::create(dir.path("index")).take();
  ASSERT_TRUE(file.write(bytes_of("all of it")).is_ok());
  ASSERT_TRUE(file.commit().is_ok());
  EXPECT_EQ(open_files(), before);
  EXPECT_EQ(read_whole(dir.path("index")), "all of it");
}

// What a writer that was killed left behind is not touched: another may still be at work on it.
TEST(AtomicFile, ANameThatIsTakenIsLeftAloneAndTheNextOneUsed) {
  TempDir dir;
  dir.write("index.new0", "somebody's");
  AtomicFile file = AtomicFile::create(dir.path("index")).take();
  EXPECT_TRUE(std::filesystem::exists(dir.path("index.new1")));
  ASSERT_TRUE(file.write(bytes_of("mine")).is_ok());
  ASSERT_TRUE(file.commit().is_ok());
  EXPECT_EQ(read_whole(dir.path("index")), "mine");
  EXPECT_EQ(read_whole(dir.path("index.new0")), "somebody's");
  EXPECT_FALSE(std::filesystem::exists(dir.path("index.new1")));
}

TEST(AtomicFile, TheLastNameThatIsTriedIsUsedAndThenItIsAnError) {
  TempDir dir;
  for (int i = 0; i < kNames - 1; ++i) dir.write(concat("index.new", i), "");
  ASSERT_TRUE(AtomicFile::create(dir.path("index")).is_ok());
  dir.write(concat("index.new", kNames - 1), "");
  const Result<AtomicFile> none = AtomicFile::create(dir.path("index"));
  ASSERT_FALSE(none.is_ok());
  EXPECT_EQ(none.status().os_error(), EEXIST);
}

TEST(AtomicFile, ADirectoryThatIsNotThereIsToldWithTheFirstName) {
  TempDir dir;
  const Result<AtomicFile> file = AtomicFile::create(dir.path("nowhere/index"));
  ASSERT_FALSE(file.is_ok());
  EXPECT_EQ(file.status().code(), Code::kNotFound);
  EXPECT_EQ(file.status().message(), dir.path("nowhere/index.new0") + ": no such file or directory");
}

}  // namespace
}  // namespace dataline::atomic_file_test
