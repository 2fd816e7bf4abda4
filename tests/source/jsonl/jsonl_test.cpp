// JSON lines: the values of each line by name, as declared or as the first line has them.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "tests/source/text_records_support.h"

namespace dataline::jsonl_test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class JsonlTest : public TextRecordsTest {
 protected:
  JsonlTest() : TextRecordsTest("jsonl") {}
};

TEST_F(JsonlTest, FieldsAreThoseOfTheFirstLine) {
  const SourceRef source = open(
      R"({"text": "a", "label": 7, "score": 0.5, "ok": true, "ids": [1, 2], "w": [1, 2.5], "meta": {"lang": "en", "n": 3}})"
      "\n");
  EXPECT_THAT(types(*source), ElementsAre("text: u8[-1]", "label: i64", "score: f64", "ok: bool",
                                          "ids: i64[-1]", "w: f64[-1]", "meta/lang: u8[-1]", "meta/n: i64"));
  EXPECT_THAT(source->info().notes,
              Contains(HasSubstr("fields inferred from line 1: fields=text:text,label:i64,score:f64,ok:bool,"
                                 "ids:i64[],w:f64[],meta/lang:text,meta/n:i64")));
  const Fetched rows = fetch_all(*source);
  EXPECT_EQ(rows.bytes[0][0], "a");
  EXPECT_THAT(values_of<int64_t>(rows.bytes[1][0]), ElementsAre(7));
  EXPECT_THAT(values_of<double>(rows.bytes[2][0]), ElementsAre(0.5));
  EXPECT_EQ(rows.bytes[3][0], "\1");
  EXPECT_THAT(values_of<int64_t>(rows.bytes[4][0]), ElementsAre(1, 2));
  EXPECT_THAT(values_of<double>(rows.bytes[5][0]), ElementsAre(1, 2.5));
  EXPECT_EQ(rows.bytes[6][0], "en");
  EXPECT_THAT(values_of<int64_t>(rows.bytes[7][0]), ElementsAre(3));
}

TEST_F(JsonlTest, WhatTheFirstLineSaysTooLittleOfIsLeftOutByName) {
  const SourceRef source =
      open(R"({"a": 1, "none": null, "tags": ["x"], "empty": [], "deep": [[1]], "mixed": [1, true]})"
           "\n");
  EXPECT_THAT(types(*source), ElementsAre("a: i64"));
  for (const char* name : {"none (null)", "tags (an array", "empty (an empty array)", "deep (", "mixed ("})
    EXPECT_THAT(source->info().notes, Contains(HasSubstr(name)));
}

TEST_F(JsonlTest, DeclaredFieldsComeInTheirOrderAndOfTheirType) {
  const std::string text =
      "{\"b\": 1, \"a\": \"x\", \"v\": [[1, 2, 3], [4, 5, 6]], \"c\": 9}\n"
      "{\"a\": \"yz\", \"v\": [[-1, 0, 0], [0, 0, 1e2]], \"b\": 255}\n";
  const std::string keys = "?fields=a:text,v:f32[2x3],b:u8";
  EXPECT_THAT(types(*open(text, keys)), ElementsAre("a: u8[-1]", "v: f32[2x3]", "b: u8"));
  EXPECT_THAT(open(text, keys)->info().notes, IsEmpty());
  EXPECT_THAT(values(text, keys, 0), ElementsAre("x", "yz"));
  const auto v = values(text, keys, 1);
  EXPECT_THAT(values_of<float>(v[0]), ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_THAT(values_of<float>(v[1]), ElementsAre(-1, 0, 0, 0, 0, 100));
  EXPECT_THAT(values(text, keys, 2), ElementsAre("\1", "\xff"));
}

TEST_F(JsonlTest, StringsAreUnescaped) {
  const std::string text = R"({"t": "plain, long enough for more than one step of sixteen bytes, and on"})"
                           "\n"
                           R"({"t": "a\n\"b\"\\\/\t\b\f\r"})"
                           "\n"
                           R"({"t": "\u00e9\u20ac\ud83d\ude00"})"
                           "\n"
                           "{\"t\": \"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\"}\n"
                           R"({"t": ""})"
                           "\n";
  EXPECT_THAT(
      values(text, ""),
      ElementsAre("plain, long enough for more than one step of sixteen bytes, and on", "a\n\"b\"\\/\t\b\f\r",
                  "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", ""));
}

TEST_F(JsonlTest, AStringWithoutEscapesIsNotCopied) {
  EXPECT_FALSE(is_copied("{\"t\": \"where it lies\"}\n"));
  EXPECT_TRUE(is_copied("{\"t\": \"a \\\"quote\\\"\"}\n"));
}

TEST_F(JsonlTest, NumbersKeepTheirWholeRange) {
  const std::string text =
      "{\"u\": 18446744073709551615, \"i\": -9223372036854775808, \"d\": 1.7976931348623157e308}\n";
  EXPECT_THAT(values_of<uint64_t>(values(text, "?fields=u:u64")[0]), ElementsAre(UINT64_MAX));
  EXPECT_THAT(values_of<int64_t>(values(text, "?fields=i:i64")[0]), ElementsAre(INT64_MIN));
  EXPECT_THAT(values_of<double>(values(text, "?fields=d:f64")[0]),
              ElementsAre(std::numeric_limits<double>::max()));
}

TEST_F(JsonlTest, ANumberTooSmallIsZero) {
  EXPECT_THAT(values_of<double>(values("{\"d\": 1e-400}\n", "?fields=d:f64")[0]), ElementsAre(0.0));
  EXPECT_THAT(values_of<float>(values("{\"d\": -1e-80}\n", "?fields=d:f32")[0]), ElementsAre(-0.0f));
}

TEST_F(JsonlTest, LineEndsOfAllKindsAndABlankTail) {
  for (const std::string text : {"{\"a\": 1}\n{\"a\": 2}\n", "{\"a\": 1}\r\n{\"a\": 2}\r\n",
                                 "{\"a\": 1}\n{\"a\": 2}", "{\"a\": 1}\n{\"a\": 2}\n\n\r\n\n",
                                 "\xef\xbb\xbf{\"a\": 1}\n{\"a\": 2}\n", " {\"a\": 1} \n\t{ \"a\" : 2 }"}) {
    const auto rows = values(text, "?fields=a:u8");
    EXPECT_THAT(rows, ElementsAre("\1", "\2"));
  }
}

TEST_F(JsonlTest, BlankLinesAreSkippedWhereverAndHoweverLongTheyAre) {
  for (const std::string& blank :
       {std::string("\n"), std::string("\r\n"), std::string(" \t\n"), std::string("   \r\n"),
        std::string(300, ' ') + "\n", std::string(70'000, '\t') + "\n\n"}) {
    const std::string text = blank + "{\"a\": 1}\n" + blank + blank + "{\"a\": 2}\r\n" + blank;
    EXPECT_THAT(values(text, "?fields=a:u8"), ElementsAre("\1", "\2"));
    EXPECT_THAT(values(text + " ", "?fields=a:u8&end=cut"), ElementsAre("\1", "\2"));
    EXPECT_THAT(values(text + "{\"a\": 3}", "?fields=a:u8&end=cut"), ElementsAre("\1", "\2"));
    EXPECT_THAT(values(text + "{\"a\": 3}", "?fields=a:u8"), ElementsAre("\1", "\2", "\3"));
  }
}

TEST_F(JsonlTest, BlankLinesCountInTheNumbersOfLines) {
  const SourceRef source = open("\n" + std::string(300, ' ') + "\n{\"a\": 1}\n\r\nbad\n", "?fields=a:u8");
  const Fetched rows = fetch_all(*source);
  ASSERT_EQ(rows.errors.size(), 1u);
  EXPECT_THAT(rows.errors.at(1).message(), HasSubstr("line 5: byte 1: expected '{', got 'b'"));
  EXPECT_THAT(source->place_of(0, 0).within, HasSubstr("line 3, "));
}

TEST_F(JsonlTest, NullAndMissingAreBadSamplesOrFilled) {
  const std::string text =
      "{\"a\": 1, \"t\": \"x\", \"v\": [1]}\n{\"a\": null, \"t\": null, \"v\": null}\n{}\n";
  const Fetched rows = fetch_all(*open(text));
  EXPECT_EQ(rows.errors.size(), 2u);
  EXPECT_THAT(rows.errors.at(1).message(), HasSubstr("line 2: field 'a': missing, or null"));
  EXPECT_THAT(rows.errors.at(2).message(), HasSubstr("line 3: field 'a'"));
  EXPECT_EQ(rows.errors.at(1).code(), Code::kCorrupt);
  for (size_t row : {1u, 2u}) {
    EXPECT_THAT(values_of<int64_t>(values(text, "?nulls=fill(-3)", 0)[row]), ElementsAre(-3));
    EXPECT_EQ(values(text, "?nulls=fill(-3)", 1)[row], "");
    EXPECT_EQ(values(text, "?nulls=fill(-3)", 2)[row], "");
  }
  EXPECT_THAT(values_of<float>(values("{}\n", "?fields=v:f32[3]&nulls=fill(0.5)")[0]),
              ElementsAre(0.5f, 0.5f, 0.5f));
}

TEST_F(JsonlTest, FilesOfADirectoryAreOneSet) {
  expect_one_set_of_a_directory("{\"a\": 1}\n{\"a\": 2}\n", "{\"a\": 3}\n");
}

TEST_F(JsonlTest, WhereTypesOfFilesDifferTheErrorSaysToDeclareThem) {
  expect_advice_where_types_differ("{\"a\": 1}\n", "{\"a\": 2.5}\n");
}

TEST_F(JsonlTest, AListBesideOtherFilesDoesNotMakeADirectoryOfLines) {
  dir_.write("set/metadata.jsonl", "{\"file_name\": \"a.png\"}\n");
  dir_.write("set/z.npy", npy_file("<i8", "(1,)", raw_bytes(int64_t{5})));
  Result<SourceRef> source = open_source(dir_.path("set"), test_context());
  ASSERT_TRUE(source.is_ok()) << source.status().message();
  EXPECT_EQ(source.value()->info().format, "npy");
}

TEST_F(JsonlTest, ABadLineIsABadSampleAndTheOthersAreRead) {
  const SourceRef source = open("{\"a\": 1}\n{\"a\": 2\n{\"a\": 3}\n");
  const Fetched rows = fetch_all(*source);
  EXPECT_EQ(rows.errors.size(), 1u);
  EXPECT_THAT(rows.errors.at(1).message(),
              HasSubstr("a.jsonl: line 2: byte 8: expected ',', got the end of the line"));
  EXPECT_THAT(values_of<int64_t>(rows.bytes[0][2]), ElementsAre(3));
  EXPECT_EQ(source->place_of(2, 0).within, "line 3, offset 17");
}

TEST_F(JsonlTest, ALineThatTheFileLostMeanwhileIsTruncatedAndNotCorrupt) {
  const SourceRef source = open("{\"a\": 1}\n{\"a\": 2}\n", "", IoMode::kMmap);
  std::filesystem::resize_file(dir_.path("a.jsonl"), 12);
  const Fetched rows = fetch_all(*source, {.opened_ns = monotonic_ns()});
  EXPECT_EQ(rows.errors.size(), 1u);
  EXPECT_EQ(rows.errors.at(1).code(), Code::kTruncated) << rows.errors.at(1).message();
}

TEST_F(JsonlTest, ValuesLongerThanTheLimitAreRefusedByName) {
  const std::string numbers = "{\"v\": [1, 2, 3, 4, 5], \"t\": \"a\\n34567890123456789\"}\n";
  const SourceRef source = open(numbers);
  const Fetched rows = fetch_all(*source, {.max_bytes_per_sample = 16});
  EXPECT_EQ(rows.errors.at(0).code(), Code::kTooLarge);
  EXPECT_THAT(rows.errors.at(0).message(), HasSubstr("field 'v': more than 2 values of 8 bytes"));
  const Fetched texts = fetch_all(*open(numbers, "?fields=t:text"), {.max_bytes_per_sample = 16});
  EXPECT_THAT(texts.errors.at(0).message(), HasSubstr("field 't': 19 bytes, max_bytes_per_sample is 16"));
  const std::string line = "{\"t\": \"" + std::string(200, 'x') + "\", \"a\": 1}\n";
  const Fetched lines = fetch_all(*open(line, "?fields=a:u8", IoMode::kPread), {.max_bytes_per_sample = 16});
  EXPECT_THAT(lines.errors.at(0).message(), HasSubstr("line 1, offset 0: has 218 bytes"));
}

TEST_F(JsonlTest, BlocksAreCutByTheBytesOfTheLines) {
  std::string text;
  for (int i = 0; i < 100; ++i) text += "{\"a\": 1}\n";
  const SourceRef source = open(text);
  std::pmr::vector<int64_t> ends;
  source->append_blocks(90, ends);
  EXPECT_EQ(ends.size(), 10u);
  EXPECT_EQ(ends.back(), 100);
  EXPECT_EQ(source->stored_bytes(), 9);
}

TEST_F(JsonlTest, TheFingerprintIsOfLinesAndFields) {
  const uint64_t first = identity("{\"a\": 1, \"b\": 2}\n{\"a\": 3, \"b\": 4}\n", "");
  EXPECT_EQ(identity("{\"a\": 1, \"b\": 2}\n{\"a\": 3, \"b\": 4}\n", ""), first);
  EXPECT_NE(identity("{\"a\": 1, \"b\": 2}\n{\"a\": 3, \"b\": 4}\n", "?fields=a:i64"), first);
  EXPECT_NE(identity("{\"a\": 1, \"b\": 22}\n{\"a\":3, \"b\": 4}\n", ""), first);
}

}  // namespace
}  // namespace dataline::jsonl_test
