// Front-coded paths come back as they were, and a damaged table is never adopted as something that reads out of it.
// SPDX-License-Identifier: Apache-2.0
#include "core/source/folder/paths.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>

namespace dataline::path_table_test {
namespace {

std::vector<std::string> some_paths() {
  std::vector<std::string> out;
  uint64_t state = 1;
  for (int i = 0; i < 1000; ++i) {
    std::string path = "class" + std::to_string(i / 90);
    state = state * 6364136223846793005u + 1442695040888963407u;
    path.append((state >> 60) == 0 ? 3000 : (state >> 33) % 5, static_cast<char>('a' + i % 26));
    out.push_back(path + "/" + std::to_string(state >> 40) + ".jpg");
  }
  out.push_back("x");
  out.push_back(std::string(kMaxPathBytes - 1, 'y'));
  out.push_back(std::string(kMaxPathBytes - 1, 'y'));
  out.push_back(std::string(128, 'y'));
  return out;
}

PathTable table_of(const std::vector<std::string>& paths) {
  PathTable table(std::pmr::get_default_resource());
  for (const std::string& path : paths) table.add(path);
  table.shrink();
  return table;
}

TEST(PathTable, GivesBackEveryPath) {
  std::vector<std::string> paths = some_paths();
  PathTable table = table_of(paths);
  ASSERT_EQ(table.count(), static_cast<int64_t>(paths.size()));
  PathBuffer buffer;
  for (size_t i = paths.size(); i-- > 0;) {
    ASSERT_EQ(table.get(static_cast<int64_t>(i), buffer), paths[i]) << i;
    ASSERT_EQ(std::strlen(buffer.data()), paths[i].size());
  }
}

TEST(PathTable, IsAdoptedAsItWas) {
  std::vector<std::string> paths = some_paths();
  PathTable table = table_of(paths), copy(std::pmr::get_default_resource());
  ASSERT_TRUE(copy.adopt(table.count(), table.encoded(), std::as_bytes(table.blocks())));
  PathBuffer buffer;
  for (size_t i = 0; i < paths.size(); ++i) ASSERT_EQ(copy.get(static_cast<int64_t>(i), buffer), paths[i]);
}

TEST(PathTable, DamageIsRefusedOrGivesOtherPlainPaths) {
  PathTable table = table_of({"a/1.jpg", "a/2.jpg", "b/3.jpg", std::string(200, 'c') + "/4.jpg"});
  int64_t refused = 0;
  for (size_t bit = 0; bit < table.encoded().size() * 8; ++bit) {
    std::vector<unsigned char> bytes(table.encoded().begin(), table.encoded().end());
    bytes[bit / 8] = static_cast<unsigned char>(bytes[bit / 8] ^ (1 << (bit % 8)));
    PathTable copy(std::pmr::get_default_resource());
    if (!copy.adopt(table.count(), bytes, std::as_bytes(table.blocks()))) {
      ++refused;
      continue;
    }
    PathBuffer buffer;
    for (int64_t i = 0; i < copy.count(); ++i) ASSERT_TRUE(is_plain_relative(copy.get(i, buffer)));
  }
  EXPECT_GT(refused, 60);
  for (size_t length = 0; length < table.encoded().size(); ++length) {
    PathTable copy(std::pmr::get_default_resource());
    EXPECT_FALSE(copy.adopt(table.count(), table.encoded().first(length), std::as_bytes(table.blocks())))
        << length;
  }
  PathTable copy(std::pmr::get_default_resource());
  EXPECT_FALSE(copy.adopt(table.count() + 1, table.encoded(), std::as_bytes(table.blocks())));
  EXPECT_FALSE(copy.adopt(table.count(), table.encoded(), {})) << "without its blocks";
}

TEST(PathTable, PlainRelativePathsStayBelow) {
  for (const char* good : {"a", "a/b", ".a/..b/c..", "...", "a b/\xff"})
    EXPECT_TRUE(is_plain_relative(good)) << good;
  for (const char* bad : {"", "/", "/a", "a/", "a//b", ".", "./a", "a/.", "..", "../a", "a/..", "a/../b"}) {
    EXPECT_FALSE(is_plain_relative(bad)) << bad;
  }
  EXPECT_FALSE(is_plain_relative(std::string("a\0b", 3)));
  EXPECT_FALSE(is_plain_relative(std::string(kMaxPathBytes, 'a')));
}

}  // namespace
}  // namespace dataline::path_table_test
