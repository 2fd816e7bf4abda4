// nulls=mask: what was null is told by a field of its own, in each format that has nulls.
// SPDX-License-Identifier: Apache-2.0
#include "core/source/null_masks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/source/open.h"
#include "tests/source/arrow/arrow_files.h"
#include "tests/source/located.h"
#include "tests/support/data_digest.h"

namespace dataline::null_masks_test {
namespace {

using testing::ElementsAre;

class NullMask : public testing::Test {
 protected:
  SourceRef open(const std::string& uri, IoMode io = IoMode::kAuto) {
    Result<SourceRef> source = open_source(uri, test_context(io));
    EXPECT_TRUE(source.is_ok()) << (source.is_ok() ? "" : source.status().message());
    return source.is_ok() ? source.take() : nullptr;
  }
  // The names of the fields, and of one of them what each row is; in each way of reading.
  std::vector<std::string> names(const std::string& uri) {
    std::vector<std::string> out;
    const SourceRef source = open(uri);
    for (const Field& field : source->schema().fields) out.push_back(field.name);
    return out;
  }
  Fetched rows(const std::string& uri) {
    Fetched out;
    for (const IoMode io : kIoModes) {
      const SourceRef source = open(uri, io);
      if (source == nullptr) return out;
      for (const bool cold : {false, true}) {
        Fetched got = fetch_all(*source, {.cold = cold});
        if (!out.bytes.empty()) {
          EXPECT_EQ(got.bytes, out.bytes);
        }
        out = std::move(got);
      }
    }
    return out;
  }
  static std::vector<bool> bits(const std::vector<std::string>& rows) {
    std::vector<bool> out;
    for (const std::string& row : rows) out.push_back(row == std::string(1, '\1'));
    return out;
  }
  template <typename T>
  static std::vector<T> numbers_of(const std::vector<std::string>& rows) {
    std::vector<T> out;
    for (const std::string& row : rows) out.push_back(values_of<T>(row).at(0));
    return out;
  }

  TempDir dir_;
};

TEST_F(NullMask, OfArrowColumns) {
  const TestArrow table = arrow_table(
      {{numbers<int32_t>("x", {1, 2, 3}, "101"), texts("t", {"a", "", "c"}, "110"),
        numbers<double>("y", {1, 2, 3}), structs("s", 3, {numbers<uint8_t>("z", {7, 8, 9}, "011")}, "101")},
       {numbers<int32_t>("x", {4}, "0"), texts("t", {"d"}), numbers<double>("y", {4}),
        structs("s", 1, {numbers<uint8_t>("z", {7})})}});
  for (const std::string& bytes : {table.file(), table.stream()}) {
    const std::string uri = "arrow:" + dir_.write("a.arrow", bytes) + "?nulls=mask";
    EXPECT_THAT(names(uri), ElementsAre("x", "t", "y", "s/z", "x/valid", "t/valid", "y/valid", "s/z/valid"));
    EXPECT_EQ(field_type_text(open(uri)->schema().fields[4]), "bool");
    const Fetched got = rows(uri);
    EXPECT_TRUE(got.errors.empty());
    EXPECT_THAT(numbers_of<int32_t>(got.bytes[0]), ElementsAre(1, 0, 3, 0));
    EXPECT_THAT(bits(got.bytes[4]), ElementsAre(true, false, true, false));
    EXPECT_THAT(got.bytes[1], ElementsAre("a", "", "", "d"));
    EXPECT_THAT(bits(got.bytes[5]), ElementsAre(true, true, false, true)) << "an empty text is not null";
    EXPECT_THAT(bits(got.bytes[6]), ElementsAre(true, true, true, true));
    EXPECT_THAT(numbers_of<uint8_t>(got.bytes[3]), ElementsAre(0, 0, 9, 7));
    EXPECT_THAT(bits(got.bytes[7]), ElementsAre(false, false, true, true))
        << "null in itself, or its struct is";
  }
}

TEST_F(NullMask, OfArrowViewsAndDictionaries) {
  const TestColumn words = texts("w", {"red", "green"}, "10");
  TestArrow table = arrow_table({{views("v", {"", "a text of some length", "x"}, 1, "110"),
                                  encoded<int8_t>(words, 7, {0, 1, 0}, "110")}});
  table.messages.insert(table.messages.begin(), arrow_dictionary(7, words));
  const Fetched got = rows("arrow:" + dir_.write("a.arrow", table.file()) + "?nulls=mask");
  EXPECT_THAT(got.bytes[0], ElementsAre("", "a text of some length", ""));
  EXPECT_THAT(bits(got.bytes[2]), ElementsAre(true, true, false));
  EXPECT_THAT(got.bytes[1], ElementsAre("red", "", ""));
  EXPECT_THAT(bits(got.bytes[3]), ElementsAre(true, false, false));
}

TEST_F(NullMask, ANullInsideAnArrowValueStaysAnError) {
  const TestArrow table =
      arrow_table({{lists<int32_t>("l", {0, 2, 2, 3}, numbers<int16_t>("item", {4, 5, 6}, "101"), "110"),
                    fixed_lists("f", 2, 3, numbers<int32_t>("item", {1, 2, 3, 4, 5, 6}, "111111"), "101")}});
  const Fetched got = rows("arrow:" + dir_.write("a.arrow", table.file()) + "?nulls=mask");
  ASSERT_EQ(got.errors.size(), 1u);
  EXPECT_THAT(std::string(got.errors.at(0).message()), testing::HasSubstr("is null"));
  EXPECT_EQ(got.bytes[0][2], "");
  EXPECT_EQ(bits({got.bytes[2][1], got.bytes[2][2]}), (std::vector<bool>{true, false}));
  EXPECT_EQ(bits({got.bytes[3][1], got.bytes[3][2]}), (std::vector<bool>{false, true}));
}

TEST_F(NullMask, OfJsonLinesAndCsv) {
  const std::string json =
      "jsonl:" + dir_.write("a.jsonl", "{\"a\": 1, \"t\": \"x\"}\n{\"a\": null}\n{\"t\": \"\"}\n") +
      "?fields=a:i64,t:text&nulls=mask";
  EXPECT_THAT(names(json), ElementsAre("a", "t", "a/valid", "t/valid"));
  const Fetched lines = rows(json);
  EXPECT_THAT(numbers_of<int64_t>(lines.bytes[0]), ElementsAre(1, 0, 0));
  EXPECT_THAT(bits(lines.bytes[2]), ElementsAre(true, false, false));
  EXPECT_THAT(bits(lines.bytes[3]), ElementsAre(true, false, true));
  const std::string csv = "csv:" + dir_.write("a.csv", "a,t,p0,p1\n1,x,1,2\n,,3,4\n3,z,5,\n") +
                          "?fields=a:f32,t:text,p0:u8[2]&nulls=mask";
  const Fetched records = rows(csv);
  EXPECT_THAT(bits({records.bytes[3][0], records.bytes[3][1]}), ElementsAre(true, false));
  EXPECT_THAT(bits({records.bytes[4][0], records.bytes[4][1]}), ElementsAre(true, true))
      << "an empty text is empty";
  EXPECT_EQ(numbers_of<float>({records.bytes[0][1]}).at(0), 0.0f);
  ASSERT_EQ(records.errors.size(), 1u) << "a mask is of a whole value: half an array is none";
  EXPECT_EQ(records.errors.at(2).sample_index(), 2);
}

TEST_F(NullMask, ABadRowHasNoMask) {
  const Fetched got = rows("jsonl:" + dir_.write("a.jsonl", "{\"a\": 1}\n{\"a\": \"x\"}\n{\"a\": 3}\n") +
                           "?fields=a:i64&nulls=mask");
  ASSERT_EQ(got.errors.size(), 1u);
  EXPECT_EQ(got.errors.count(1), 1u);
}

TEST_F(NullMask, AFieldThatHasTheNameOfAMaskIsRefused) {
  const std::string path = dir_.write("a.jsonl", "{\"a\": 1, \"a/valid\": 2}\n");
  expect_error(open_source("jsonl:" + path + "?fields=a:i64,a/valid:i64&nulls=mask", test_context()),
               Code::kUnsupported, {"already called 'a/valid'"});
  expect_error(open_source("jsonl:" + path + "?nulls=masks", test_context()), Code::kBadUri,
               {"expected error, fill(NUMBER) or mask"});
}

TEST_F(NullMask, IsPartOfTheIdentity) {
  const std::string path = dir_.write("a.jsonl", "{\"a\": 1}\n");
  const auto digest = [&](const std::string& keys) { return data_digest(*open("jsonl:" + path + keys)); };
  EXPECT_NE(digest("?nulls=mask"), digest("?nulls=fill(0)"));
  EXPECT_NE(digest("?nulls=mask"), digest(""));
}

TEST_F(NullMask, PlacesAndBlocksAreThoseOfTheValues) {
  const SourceRef masked =
      open("jsonl:" + dir_.write("a.jsonl", "{\"a\": 1}\n{\"a\": null}\n") + "?nulls=mask");
  EXPECT_EQ(masked->place_of(1, 0).within, masked->place_of(1, 1).within);
  EXPECT_EQ(masked->count(), 2);
}

}  // namespace
}  // namespace dataline::null_masks_test
