// Windows of token files: how many, which tokens, from which kinds of file.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "core/source/open.h"
#include "tests/source/tokens/token_files.h"
#include "tests/support/places.h"

namespace dataline::tokens_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class TokensTest : public testing::Test {
 protected:
  SourceRef open(const std::string& uri) {
    Result<SourceRef> source = open_source(uri, context_);
    EXPECT_TRUE(source.is_ok()) << uri << ": " << (source.is_ok() ? "" : source.status().message());
    return source.is_ok() ? source.take() : nullptr;
  }

  TempDir dir_;
  OpenContext context_ = test_context();
};

TEST_F(TokensTest, YIsXShiftedByOne) {
  dir_.write("train.bin", raw_bytes(counting_tokens<uint16_t>(10)));
  SourceRef source = open("tokens:" + dir_.path("train.bin") + "?length=3");
  ASSERT_EQ(source->count(), 3);
  Fetched rows = fetch_all(*source);
  EXPECT_THAT(values_of<uint16_t>(rows.bytes[0][0]), ElementsAre(100, 101, 102));
  EXPECT_THAT(values_of<uint16_t>(rows.bytes[1][0]), ElementsAre(101, 102, 103));
  EXPECT_THAT(values_of<uint16_t>(rows.bytes[0][2]), ElementsAre(106, 107, 108));
  EXPECT_THAT(values_of<uint16_t>(rows.bytes[1][2]), ElementsAre(107, 108, 109));
}

TEST_F(TokensTest, TheSchemaIsTwoFieldsInOneColumn) {
  dir_.write("train.bin", raw_bytes(counting_tokens<uint16_t>(10)));
  for (bool views : {false, true}) {
    SourceRef source =
        open(concat("tokens:", dir_.path("train.bin"), "?length=3&views=", views ? "true" : "false"));
    const Schema& schema = source->schema();
    ASSERT_EQ(schema.columns.size(), 1u);
    EXPECT_EQ(schema.columns[0].row_bytes, 8);
    ASSERT_EQ(schema.fields.size(), 2u);
    for (size_t f = 0; f < 2; ++f) {
      EXPECT_EQ(schema.fields[f].name, f == 0 ? "x" : "y");
      EXPECT_EQ(field_type_text(schema.fields[f]), "u16[3]");
      EXPECT_EQ(schema.fields[f].axes, "T");
      EXPECT_EQ(schema.places[f].column, 0);
      EXPECT_EQ(schema.places[f].offset, f == 0 ? 0 : 2);
      EXPECT_EQ(schema.places[f].shared, views);
    }
  }
}

TEST_F(TokensTest, U16IsAssumedForBinAndSaidSo) {
  dir_.write("train.bin", raw_bytes(counting_tokens<uint16_t>(2000)));
  for (const std::string& uri : {dir_.path("train.bin"), "tokens:" + dir_.path("train.bin")}) {
    SourceInfo info = open(uri)->info();
    EXPECT_EQ(info.format, "tokens");
    EXPECT_EQ(info.uri, uri);
    EXPECT_THAT(info.notes, ElementsAre(HasSubstr("dtype u16 assumed")));
  }
  EXPECT_TRUE(open("tokens:" + dir_.path("train.bin") + "?dtype=u16")->info().notes.empty());
}

TEST_F(TokensTest, EveryIntegerTypeIsRead) {
  dir_.write("t.tok", raw_bytes(counting_tokens<uint64_t>(32)));
  for (auto [name, bytes] : std::vector<std::pair<std::string, int64_t>>{
           {"u8", 1}, {"i8", 1}, {"u16", 2}, {"i16", 2}, {"u32", 4}, {"i32", 4}, {"u64", 8}, {"i64", 8}}) {
    SourceRef source = open("tokens:" + dir_.path("t.tok") + "?length=3&stride=1&dtype=" + name);
    EXPECT_EQ(source->count(), 32 * 8 / bytes - 3) << name;
    EXPECT_EQ(source->schema().places[1].offset, bytes);
  }
}

TEST_F(TokensTest, LlmcHeadersAreRecognised) {
  dir_.write("a.bin", llmc_u16(9));
  dir_.write("b.bin", llmc_u32(9));
  SourceRef narrow = open(dir_.path("a.bin"));
  EXPECT_EQ(narrow->count(), 0);
  narrow = open("tokens:" + dir_.path("a.bin") + "?length=4");
  EXPECT_EQ(narrow->count(), 2);
  EXPECT_THAT(values_of<uint16_t>(fetch(*narrow, {1}).bytes[1][0]), ElementsAre(105, 106, 107, 108));
  EXPECT_TRUE(narrow->info().notes.empty());
  SourceRef wide = open("tokens:" + dir_.path("b.bin") + "?length=4&dtype=u32");
  EXPECT_THAT(values_of<uint32_t>(fetch(*wide, {1}).bytes[0][0]), ElementsAre(104, 105, 106, 107));
}

TEST_F(TokensTest, OneDimensionalNpyArraysAreRead) {
  std::string little = raw_bytes(std::vector<uint16_t>{1, 2, 3, 4, 5});
  std::string big = raw_bytes(std::vector<uint16_t>{0x0100, 0x0200, 0x0300, 0x0400, 0x0500});
  dir_.write("a.npy", npy_file("<u2", "(5,)", little));
  dir_.write("b.npy", npy_file(">u2", "(5,)", big));
  for (const char* name : {"a.npy", "b.npy"}) {
    SourceRef source = open("tokens:" + dir_.path(name) + "?length=4");
    ASSERT_EQ(source->count(), 1) << name;
    EXPECT_THAT(values_of<uint16_t>(fetch_all(*source).bytes[1][0]), ElementsAre(2, 3, 4, 5)) << name;
  }
}

TEST_F(TokensTest, NoWindowCrossesFilesAndPartsGoInNaturalOrder) {
  dir_.write("d/part-10.bin", raw_bytes(counting_tokens<uint16_t>(8)));
  dir_.write("d/part-2.bin", raw_bytes(counting_tokens<uint16_t>(5)));
  dir_.write("d/part-1.bin", raw_bytes(counting_tokens<uint16_t>(3)));
  SourceRef source = open("tokens:" + dir_.path("d") + "?length=3");
  EXPECT_EQ(source->count(), 0 + 1 + 2);
  Fetched rows = fetch_all(*source);
  EXPECT_THAT(values_of<uint16_t>(rows.bytes[0][0]), ElementsAre(100, 101, 102));
  EXPECT_THAT(values_of<uint16_t>(rows.bytes[0][1]), ElementsAre(100, 101, 102));
  EXPECT_THAT(values_of<uint16_t>(rows.bytes[0][2]), ElementsAre(103, 104, 105));
  EXPECT_THAT(source->info().notes,
              ElementsAre(HasSubstr("assumed"), HasSubstr("part-1.bin: 3 tokens, no window of 4")));
}

TEST_F(TokensTest, FilesOfOtherTypesAreAMismatchThatNamesBoth) {
  dir_.write("a.bin", llmc_u16(9));
  dir_.write("b.bin", llmc_u32(9));
  std::string uri = "tokens:" + dir_.path("a.bin") + "," + dir_.path("b.bin") + "?length=4";
  expect_error(open_source(uri, context_), Code::kMismatch,
               {"b.bin: field 'x' is u32[4]", "a.bin it is u16[4]"});
}

TEST_F(TokensTest, AnEmptyFileHasNoWindows) {
  dir_.write("a.bin", "");
  SourceRef source = open("tokens:" + dir_.path("a.bin"));
  EXPECT_EQ(source->count(), 0);
  EXPECT_THAT(source->info().notes, testing::Contains(HasSubstr("0 tokens, no window of 1025")));
}

TEST_F(TokensTest, BytesOfTextAreTokens) {
  std::string path = tests::in_shared_data("text/tinyshakespeare.txt");
  if (!std::filesystem::exists(path)) GTEST_SKIP() << path << " is not here";
  SourceRef source = open("tokens:" + path + "?dtype=u8&length=256");
  EXPECT_EQ(source->count(), (1'115'394 - 257) / 256 + 1);
  EXPECT_EQ(fetch(*source, {0}).bytes[0][0].substr(0, 14), "First Citizen:");
}

}  // namespace
}  // namespace dataline::tokens_test
