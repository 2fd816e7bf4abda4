// Brace ranges in the paths of tar URIs, and the shards they name.
// SPDX-License-Identifier: Apache-2.0
#include "core/source/uri.h"

#include <gmock/gmock.h>

#include "core/source/open.h"
#include "tests/source/source_support.h"
#include "tests/source/tar/tar_files.h"
#include "tests/support/peak_growth.h"

namespace dataline::shard_ranges_test {
namespace {

using testing::ElementsAre;

std::vector<std::string> expanded(std::string_view text) {
  Result<std::vector<std::string>> paths = expand_ranges(text, 1);
  return paths.is_ok() ? paths.take() : std::vector<std::string>{paths.status().message()};
}

TEST(ShardRanges, CountUpWithTheWidthOfTheLongerEnd) {
  EXPECT_THAT(expanded("plain.tar"), ElementsAre("plain.tar"));
  EXPECT_THAT(expanded("a-{8..11}.tar"), ElementsAre("a-8.tar", "a-9.tar", "a-10.tar", "a-11.tar"));
  EXPECT_THAT(expanded("{00..2}"), ElementsAre("00", "01", "02"));
  EXPECT_THAT(expanded("{008..010}"), ElementsAre("008", "009", "010"));
  EXPECT_THAT(expanded("{0..0}x"), ElementsAre("0x"));
  EXPECT_EQ(expanded("{000..127}").size(), 128u);
}

TEST(ShardRanges, SeveralMultiplyAndTheLastCountsFastest) {
  EXPECT_THAT(expanded("{1..2}/{08..09}.tar"), ElementsAre("1/08.tar", "1/09.tar", "2/08.tar", "2/09.tar"));
}

TEST(ShardRanges, AreDecodedAfterwards) {
  EXPECT_THAT(expanded("a%2Cb-{1..2}%7Bx%7D"), ElementsAre("a,b-1{x}", "a,b-2{x}"));
}

TEST(ShardRanges, MalformedOnesNameTheColumn) {
  struct Case {
    std::string text;
    int64_t column;
    std::string part;
  };
  const Case cases[] = {
      {"a{1..2", 2, "'{' without '}'"},
      {"a}b", 2, "'}' without '{'"},
      {"{1..{2..3}}", 5, "do not nest"},
      {"x{}", 2, "expected two numbers"},
      {"{a..z}", 1, "expected two numbers"},
      {"{1..}", 1, "expected two numbers"},
      {"{..2}", 1, "expected two numbers"},
      {"{1...2}", 1, "expected two numbers"},
      {"{1..3..2}", 1, "expected two numbers"},
      {"{-1..3}", 1, "expected two numbers"},
      {"{ 1..3}", 1, "expected two numbers"},
      {"{5..1}", 1, "counts down"},
      {"{0..9999999999999999999}", 1, "expected two numbers"},
      {"{0..1048576}", 1, "more than 1048576 files"},
      {"{0..999999}{0..1}", 12, "more than 1048576 files"},
      {"{00..99}{00..99}{00..99}{00..99}", 25, "more than 1048576 files"},
      {"{0..1}%zz", 7, "hexadecimal"},
  };
  for (const Case& c : cases) {
    Result<std::vector<std::string>> paths = expand_ranges(c.text, 1);
    ASSERT_FALSE(paths.is_ok()) << c.text;
    EXPECT_EQ(paths.status().code(), Code::kBadUri);
    EXPECT_EQ(paths.status().column(), c.column) << c.text;
    EXPECT_NE(paths.status().message().find(c.part), std::string::npos) << paths.status().message();
  }
}

TEST(ShardRanges, WhatIsRefusedIsRefusedBeforeNamesAreMade) {
  const PeakGrowth growth;
  const Result<std::vector<std::string>> many = expand_ranges("{00..99}{00..99}{00..99}{00..99}", 1);
  EXPECT_FALSE(many.is_ok());
  const Result<std::vector<std::string>> large = expand_ranges(std::string(5000, 'a') + "{0..99999}", 1);
  ASSERT_FALSE(large.is_ok());
  EXPECT_EQ(large.status().code(), Code::kBadUri);
  EXPECT_NE(large.status().message().find("100000 names of up to 5018 bytes; at most 268435456 in all"),
            std::string::npos)
      << large.status().message();
  EXPECT_LT(growth.bytes(), kMostGrowthBytes);
}

class ShardsTest : public ::testing::Test {
 protected:
  std::string shard(const std::string& name, const std::string& key, const std::string& extension = "txt") {
    return dir_.write(name, tar_member(key + "." + extension, key) + tar_end());
  }
  std::string keys(const std::string& uri) {
    Result<SourceRef> source = open_source(uri, test_context());
    if (!source.is_ok()) return source.status().message();
    std::string out;
    const Fetched rows = fetch_all(*source.value());
    for (const std::string& key : rows.bytes.back()) out += key;
    return out;
  }
  TempDir dir_;
};

TEST_F(ShardsTest, RangesListsAndDirectoriesNameTheSameShards) {
  for (int i = 8; i < 12; ++i)
    shard("s/t-" + std::to_string(i) + ".tar", std::string(1, static_cast<char>('a' + i)));
  dir_.write("s/other.txt", "no shard");
  EXPECT_EQ(keys("tar:" + dir_.path("s/t-{8..11}.tar")), "ijkl");
  EXPECT_EQ(keys("tar:" + dir_.path("s/t-{10..11}.tar") + "," + dir_.path("s/t-{8..9}.tar")), "klij");
  EXPECT_EQ(keys("tar:" + dir_.path("s")), "ijkl");
  EXPECT_EQ(keys(dir_.path("s/t-9.tar")), "j") << "a bare path, by its content";
  EXPECT_THAT(keys("tar:" + dir_.path("s/t-{8..12}.tar")), testing::HasSubstr("t-12.tar: no such file"));
  EXPECT_THAT(keys("tar:" + dir_.path("s/t-{8..")), testing::HasSubstr("without '}'"));
}

TEST_F(ShardsTest, BracesAreLiteralInBarePathsAndWhenEscaped) {
  const std::string path = shard("{1..2}.tar", "x");
  EXPECT_EQ(keys(path), "x");
  EXPECT_EQ(keys("tar:" + dir_.path("%7B1..2%7D.tar")), "x");
}

TEST_F(ShardsTest, ShardsMustAgreeOnTheirFields) {
  shard("0.tar", "a");
  shard("1.tar", "b", "json");
  EXPECT_THAT(keys("tar:" + dir_.path("{0..1}.tar")), testing::HasSubstr("has fields json, key"));
}

}  // namespace
}  // namespace dataline::shard_ranges_test
