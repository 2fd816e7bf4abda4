// A mix as a source: its parts one after another, their names, what it passes on.
// SPDX-License-Identifier: Apache-2.0
#include "core/source/composed/mix.h"

#include <gtest/gtest.h>

#include "core/source/open.h"
#include "tests/source/source_support.h"
#include "tests/support/data_digest.h"

namespace dataline::mix_test {
namespace {

class MixTest : public testing::Test {
 protected:
  SourceRef open(const std::string& uri) {
    Result<SourceRef> source = open_source(uri, context_);
    EXPECT_TRUE(source.is_ok()) << (source.is_ok() ? "" : source.status().message());
    return source.is_ok() ? source.take() : nullptr;
  }
  std::string letters(const std::string& name, const std::string& text) {
    return dir_.write(name, npy_file("|u1", concat("(", text.size(), ",)"), text));
  }

  TempDir dir_;
  OpenContext context_ = test_context();
};

TEST_F(MixTest, RelativePathsAreRelativeToTheRecipe) {
  letters("sets/deep, er/x=1.npy", "abc");
  letters("sets/y-1.npy", "de");
  letters("sets/y-2.npy", "f");
  const std::string absolute = letters("z.npy", "gh");
  const std::string recipe =
      dir_.write("sets/mix.json", R"({"parts": [{"name": "x", "uri": "npy:deep%2C er/x%3D1.npy", "weight": 1},
        {"name": "y", "uri": "npy:y-1.npy,y-2.npy", "weight": 2}, {"name": "z", "uri": ")" +
                                      absolute + R"(", "weight": 1},
        {"name": "w", "uri": "y-2.npy", "weight": 0}]})");
  const SourceRef source = open("mix:" + recipe);
  ASSERT_NE(source, nullptr);
  std::string rows;
  const Fetched fetched = fetch_all(*source);
  for (const std::string& row : fetched.bytes[0]) rows += row;
  EXPECT_EQ(rows, "abcdefghf");
  const Mix& mix = *source->facts().mix;
  EXPECT_EQ(mix.part_count(), 4);
  EXPECT_EQ(mix.name(1), "y");
  EXPECT_EQ(mix.samples(1), 3);
  EXPECT_EQ(mix.uri(1), "npy:y-1.npy,y-2.npy");
  EXPECT_EQ(mix.share(1), 0.5);
  EXPECT_EQ(sample_text(*source, 4), "sample 1 of part y");
  EXPECT_EQ(source->info().format, "mix");
  EXPECT_EQ(source->info().uri, "mix:" + recipe);
}

TEST_F(MixTest, ASubsetOrConcatenationOfAMixIsNoMix) {
  const std::string path = letters("a.npy", "abc");
  const SourceRef mix = open("mix:" + dir_.write("m.json", R"({"parts": [{"uri": "a.npy", "repeat": 2}]})"));
  ASSERT_NE(mix->facts().mix, nullptr);
  EXPECT_TRUE(mix->facts().mix->by_repeats());
  const int64_t indices[] = {2, 0};
  Result<SourceRef> subset = subset_source(mix, indices, {}, *context_.memory);
  EXPECT_EQ(subset.value()->facts().mix, nullptr);
  Result<SourceRef> both = concat_sources({{"", mix, "m"}, {"", open("npy:" + path), path}});
  EXPECT_EQ(both.value()->facts().mix, nullptr);
  Result<SourceRef> nested =
      mix_sources({.parts = {{.name = "m", .source = mix, .uri = "", .weight = 1}}, .schedule = {}});
  EXPECT_EQ(nested.status().code(), Code::kUnsupported);
}

TEST_F(MixTest, TheIdentityIsNotThatOfAConcatenation) {
  const SourceRef a = open("npy:" + letters("a.npy", "abc")), b = open("npy:" + letters("b.npy", "de"));
  Result<SourceRef> mix = mix_sources({.parts = {{.name = "a", .source = a, .uri = "", .weight = 1},
                                                 {.name = "b", .source = b, .uri = "", .weight = 1}},
                                       .schedule = {}});
  Result<SourceRef> joined = concat_sources({{"", a, "a"}, {"", b, "b"}});
  EXPECT_NE(data_digest(*mix.value()), data_digest(*joined.value()));
}

}  // namespace
}  // namespace dataline::mix_test
