// Rows of Arrow files and streams.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/source/open.h"
#include "tests/source/arrow/arrow_files.h"
#include "tests/source/located.h"

namespace dataline::arrow_test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class ArrowTest : public testing::Test {
 protected:
  SourceRef open(const std::string& bytes, const std::string& keys = "", IoMode io = IoMode::kAuto) {
    Result<SourceRef> source = open_source("arrow:" + dir_.write("a.arrow", bytes) + keys, test_context(io));
    EXPECT_TRUE(source.is_ok()) << (source.is_ok() ? "" : source.status().message());
    return source.is_ok() ? source.take() : nullptr;
  }
  // As a file and as a stream, in each way of reading: the rows of one field.
  template <typename T>
  std::vector<std::vector<T>> rows(const TestArrow& table, const std::string& keys = "", size_t field = 0) {
    std::vector<std::vector<T>> out;
    for (const std::string& bytes : {table.file(), table.stream()}) {
      for (const IoMode io : kIoModes) {
        const SourceRef source = open(bytes, keys, io);
        if (source == nullptr) return {};
        for (const bool cold : {false, true}) {
          const Fetched fetched = fetch_all(*source, {.cold = cold});
          EXPECT_TRUE(fetched.errors.empty()) << fetched.errors.begin()->second.message();
          std::vector<std::vector<T>> got;
          for (const std::string& row : fetched.bytes[field]) got.push_back(values_of<T>(row));
          if (out.empty()) out = got;
          EXPECT_EQ(got, out);
        }
      }
    }
    return out;
  }
  static std::string type_of(const SourceRef& source, size_t field = 0) {
    return field_type_text(source->schema().fields[field]);
  }
  static std::vector<std::string> strings(const std::vector<std::vector<char>>& rows) {
    std::vector<std::string> out;
    for (const auto& row : rows) out.emplace_back(row.begin(), row.end());
    return out;
  }

  TempDir dir_;
};

template <typename T>
using Rows = std::vector<std::vector<T>>;

TEST_F(ArrowTest, RowsOfAllBatchesInTheirOrder) {
  const TestArrow table = arrow_table({{numbers<int32_t>("x", {1, 2, 3})},
                                       {numbers<int32_t>("x", {})},
                                       {numbers<int32_t>("x", {4})},
                                       {numbers<int32_t>("x", {5, 6, 7, 8, 9})}});
  EXPECT_EQ(rows<int32_t>(table), (Rows<int32_t>{{1}, {2}, {3}, {4}, {5}, {6}, {7}, {8}, {9}}));
  const SourceRef source = open(table.file());
  EXPECT_EQ(source->count(), 9);
  EXPECT_EQ(source->info().format, "arrow");
  EXPECT_THAT(source->info().notes, IsEmpty());
  const Fetched some = fetch(*source, {8, 0, 3, 3});
  EXPECT_EQ(some.bytes[0][0], raw_bytes(9));
  EXPECT_EQ(some.bytes[0][2], raw_bytes(4));
  EXPECT_THAT(source->place_of(4, 0).within, HasSubstr("record batch 3, row 0, offset "));
}

TEST_F(ArrowTest, NumbersOfFixedSizeAreMappedWithoutACopy) {
  const SourceRef source = open(arrow_table({{numbers<float>("x", {1, 2, 3})}}).file(), "", IoMode::kMmap);
  EXPECT_EQ(source->scratch_bytes(4096), 0);
  const Located run(*source, {0, 1, 2}, {.contiguous = true});
  EXPECT_TRUE(run.contiguous(0));
}

TEST_F(ArrowTest, EveryWidthHasItsType) {
  const SourceRef source =
      open(arrow_table({{numbers<int8_t>("a", {-1}), numbers<uint8_t>("b", {1}), numbers<int16_t>("c", {-2}),
                         numbers<uint16_t>("d", {2}), numbers<uint32_t>("e", {3}),
                         numbers<int64_t>("f", {-4}), numbers<uint64_t>("g", {4}),
                         numbers<float>("h", {0.5f}), numbers<double>("i", {0.25}), bools("j", "1")}})
               .file());
  std::string types;
  for (size_t f = 0; f < source->schema().fields.size(); ++f) types += type_of(source, f) + " ";
  EXPECT_EQ(types, "i8 u8 i16 u16 u32 i64 u64 f32 f64 bool ");
  const Fetched row = fetch_all(*source);
  EXPECT_EQ(row.bytes[5][0], raw_bytes(int64_t{-4}));
  EXPECT_EQ(row.bytes[8][0], raw_bytes(0.25));
  EXPECT_EQ(row.bytes[9][0], "\1");
}

TEST_F(ArrowTest, BoolsAreUnpacked) {
  std::string bits;
  for (int i = 0; i < 300; ++i) bits += i % 7 < 3 || i % 11 == 0 ? '1' : '0';
  const auto got = rows<char>(arrow_table({{bools("x", bits)}}));
  ASSERT_EQ(got.size(), 300u);
  for (size_t i = 0; i < 300; ++i) EXPECT_EQ(got[i][0], bits[i] == '1' ? 1 : 0) << i;
  const TestArrow masks = arrow_table({{fixed_lists("mask", 30, 10, bools("item", bits))}});
  const auto packed = rows<char>(masks);
  for (size_t i = 0; i < 300; ++i) EXPECT_EQ(packed[i / 30][i % 30], bits[i] == '1' ? 1 : 0) << i;
}

TEST_F(ArrowTest, FixedSizesAreDims) {
  TestColumn bytes{arrow_field("b", arrow_type::kFixedBinary, size_type(3)), {{2, 0}}, {"", "abcdef"}};
  const TestColumn inner =
      fixed_lists("item", 2, 6, numbers<int16_t>("item", {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}));
  const TestArrow table = arrow_table({{bytes, fixed_lists("m", 3, 2, inner)}});
  const SourceRef source = open(table.file());
  EXPECT_EQ(type_of(source, 0), "u8[3]");
  EXPECT_EQ(type_of(source, 1), "i16[3x2]");
  EXPECT_THAT(strings(rows<char>(table)), ElementsAre("abc", "def"));
  EXPECT_EQ(rows<int16_t>(table, "", 1), (Rows<int16_t>{{0, 1, 2, 3, 4, 5}, {6, 7, 8, 9, 10, 11}}));
}

TEST_F(ArrowTest, TextsAndListsAreRagged) {
  const TestArrow table =
      arrow_table({{texts("t", {"a", "", "long text"}),
                    lists<int32_t>("l", {0, 2, 2, 5}, numbers<int16_t>("item", {1, 2, 3, 4, 5}))},
                   {texts("t", {"z"}), lists<int32_t>("l", {0, 1}, numbers<int16_t>("item", {6}))}});
  EXPECT_THAT(strings(rows<char>(table)), ElementsAre("a", "", "long text", "z"));
  EXPECT_EQ(rows<int16_t>(table, "", 1), (Rows<int16_t>{{1, 2}, {}, {3, 4, 5}, {6}}));
  const SourceRef source = open(table.file());
  EXPECT_EQ(type_of(source, 0), "u8[-1]");
  EXPECT_EQ(type_of(source, 1), "i16[-1]");
  EXPECT_EQ(source->schema().fields[0].max_bytes, 9);
  EXPECT_EQ(source->schema().fields[1].max_bytes, 6);
  const TestArrow large = arrow_table({{texts<int64_t>("t", {"xy", "z"}),
                                        lists<int64_t>("l", {1, 1, 3}, numbers<double>("item", {0, 1, 2}))}});
  EXPECT_THAT(strings(rows<char>(large)), ElementsAre("xy", "z"));
  EXPECT_EQ(rows<double>(large, "", 1), (Rows<double>{{}, {1, 2}}));
}

TEST_F(ArrowTest, ListsOfFixedListsHaveFurtherDims) {
  const TestColumn boxes =
      fixed_lists("item", 4, 3, numbers<float>("item", {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}));
  const TestArrow table = arrow_table({{lists<int32_t>("boxes", {0, 2, 3}, boxes)}});
  EXPECT_EQ(type_of(open(table.file())), "f32[-1x4]");
  EXPECT_EQ(rows<float>(table)[1], (std::vector<float>{8, 9, 10, 11}));
}

TEST_F(ArrowTest, LeavesOfStructsAreFields) {
  const TestColumn image =
      structs("image", 2,
              {texts("bytes", {"abc", "d"}),
               structs("size", 2, {numbers<int32_t>("h", {1, 2}), numbers<int32_t>("w", {3, 4})})});
  const TestArrow table = arrow_table({{image, numbers<int64_t>("label", {7, 8})}});
  const SourceRef all = open(table.file());
  std::vector<std::string> names;
  for (const Field& field : all->schema().fields) names.push_back(field.name);
  EXPECT_THAT(names, ElementsAre("image/bytes", "image/size/h", "image/size/w", "label"));
  EXPECT_EQ(rows<int32_t>(table, "?fields=label,image/size", 2), (Rows<int32_t>{{3}, {4}}));
  EXPECT_EQ(open(table.file(), "?fields=label,image/size")->schema().fields[0].name, "label");
  EXPECT_THAT(strings(rows<char>(table, "?fields=image/bytes")), ElementsAre("abc", "d"));
}

TEST_F(ArrowTest, DictionariesAreDecoded) {
  const TestColumn words = texts("w", {"red", "green"}), more = texts("w", {"blue"});
  TestArrow table =
      arrow_table({{encoded<int8_t>(words, 5, {1, 0, 1})}, {encoded<int8_t>(words, 5, {2, 2})}});
  table.messages.insert(table.messages.begin(), arrow_dictionary(5, words));
  table.messages.insert(table.messages.begin() + 2, arrow_dictionary(5, more, true));
  EXPECT_THAT(strings(rows<char>(table)), ElementsAre("green", "red", "green", "blue", "blue"));
  EXPECT_THAT(open(table.file())->info().notes,
              Contains(HasSubstr("w: dictionary<values=string, indices=int8>")));
  TestArrow dense = arrow_table({{encoded<uint16_t>(numbers<double>("x", {0.5, 1.5}), 1, {1, 1, 0})}});
  dense.messages.insert(dense.messages.begin(), arrow_dictionary(1, numbers<double>("x", {0.5, 1.5})));
  EXPECT_EQ(rows<double>(dense), (Rows<double>{{1.5}, {1.5}, {0.5}}));
}

TEST_F(ArrowTest, AStreamMayReplaceADictionaryAndAFileMayNot) {
  const TestColumn words = texts("w", {"red"}), other = texts("w", {"one", "two"});
  TestArrow table = arrow_table({{encoded<int32_t>(words, 5, {0})}, {encoded<int32_t>(words, 5, {1, 0})}});
  table.messages.insert(table.messages.begin(), arrow_dictionary(5, words));
  table.messages.insert(table.messages.begin() + 2, arrow_dictionary(5, other));
  const Fetched rows = fetch_all(*open(table.stream()));
  EXPECT_THAT(rows.bytes[0], ElementsAre("red", "two", "one"));
  expect_error(open_source("arrow:" + dir_.write("b.arrow", table.file()), test_context()), Code::kCorrupt,
               {"dictionary 5 appears twice"});
}

TEST_F(ArrowTest, NullsMakeTheirSamplesBad) {
  const TestArrow table =
      arrow_table({{numbers<int32_t>("x", {1, 2, 3, 4}, "1011"), texts("t", {"a", "b", "c", "d"}, "1110")}});
  for (const IoMode io : kIoModes) {
    const SourceRef source = open(table.file(), "", io);
    EXPECT_THAT(source->info().notes, Contains(HasSubstr("x: 1 null")));
    const Fetched rows = fetch_all(*source);
    ASSERT_EQ(rows.errors.size(), 2u);
    EXPECT_EQ(rows.errors.at(1).code(), Code::kCorrupt);
    EXPECT_THAT(
        rows.errors.at(1).message(),
        testing::AllOf(HasSubstr("a.arrow: offset "), HasSubstr("field 'x': record batch 0, row 1: a null"),
                       HasSubstr("nulls=fill(0)")));
    EXPECT_THAT(rows.errors.at(3).message(), HasSubstr("field 't': record batch 0, row 3"));
    EXPECT_THAT(rows.bytes[1], ElementsAre("a", "", "c", ""));
  }
}

TEST_F(ArrowTest, NullsAreFilledWhereTheUriSaysSo) {
  const TestColumn inside = fixed_lists("f", 2, 2, numbers<float>("item", {1, 2, 3, 4}, "1101"));
  const TestArrow table =
      arrow_table({{numbers<int32_t>("x", {1, 2}, "10"), texts("t", {"a", "b"}, "01"), inside,
                    lists<int32_t>("l", {0, 1, 2}, numbers<int8_t>("item", {5, 6}, "01")),
                    structs("s", 2, {numbers<int16_t>("y", {8, 9})}, "01")}});
  EXPECT_EQ(rows<int32_t>(table, "?nulls=fill(-1)"), (Rows<int32_t>{{1}, {-1}}));
  EXPECT_THAT(strings(rows<char>(table, "?nulls=fill(-1)", 1)), ElementsAre("", "b"));
  EXPECT_EQ(rows<float>(table, "?nulls=fill(-1)", 2), (Rows<float>{{1, 2}, {-1, 4}}));
  EXPECT_EQ(rows<int8_t>(table, "?nulls=fill(-1)", 3), (Rows<int8_t>{{-1}, {6}}));
  EXPECT_EQ(rows<int16_t>(table, "?nulls=fill(-1)", 4), (Rows<int16_t>{{-1}, {9}})) << "a null struct";
  expect_error(open_source("arrow:" + dir_.path("a.arrow") + "?nulls=fill(0.5)", test_context()),
               Code::kBadUri, {"field 'x' is i32, which cannot hold 0.5"});
  const Fetched refused = fetch_all(*open(table.file(), "?fields=f"));
  ASSERT_EQ(refused.errors.size(), 1u);
  EXPECT_THAT(refused.errors.at(1).message(), HasSubstr("its value 0 is null"));
}

TEST_F(ArrowTest, NullsOfDictionariesAreNulls) {
  const TestColumn words = texts("w", {"red", "?"}, "10");
  TestArrow table = arrow_table({{encoded<int8_t>(words, 5, {0, 1, 0}, "110")}});
  table.messages.insert(table.messages.begin(), arrow_dictionary(5, words));
  EXPECT_EQ(fetch_all(*open(table.file())).errors.size(), 2u);
  EXPECT_THAT(strings(rows<char>(table, "?nulls=fill(0)")), ElementsAre("red", "", ""));
}

TEST_F(ArrowTest, TimesAreTheirIntegers) {
  TestColumn when = numbers<int64_t>("when", {1, 2});
  when.field =
      arrow_field("when", arrow_type::kTimestamp, {{0, flat_number<int16_t>(2)}, {1, flat_text("UTC")}});
  TestColumn day = numbers<int32_t>("day", {3, 4});
  day.field = arrow_field("day", arrow_type::kDate, {{0, flat_number<int16_t>(0)}});
  const SourceRef source = open(arrow_table({{when, day}}).file());
  EXPECT_EQ(type_of(source, 0), "i64");
  EXPECT_EQ(type_of(source, 1), "i32");
  EXPECT_THAT(source->info().notes, Contains("when: timestamp[us, tz=UTC], delivered as its integers"));
}

TEST_F(ArrowTest, ATensorHasItsShapeAndAxes) {
  const auto tensor = [&](const std::string& text) {
    const FlatFields more = {{6, metadata({{"ARROW:extension:name", "arrow.fixed_shape_tensor"},
                                           {"ARROW:extension:metadata", text}})}};
    return arrow_table({{fixed_lists("x", 6, 1, numbers<float>("item", {0, 1, 2, 3, 4, 5}), "", more)}})
        .file();
  };
  const SourceRef source = open(tensor(R"({"shape":[2,3],"dim_names":["H","W"]})"));
  EXPECT_EQ(type_of(source), "f32[2x3]");
  EXPECT_EQ(source->schema().fields[0].axes, "HW");
  EXPECT_EQ(type_of(open(tensor(R"( { "shape" : [ 2, 3 ], "dim_names" : ["H", "W"] } )"))), "f32[2x3]")
      << "spaces";
  EXPECT_THAT(open(tensor(R"({"shape":[3,2],"permutation":[1,0]})"))->info().notes,
              Contains(HasSubstr("permutation")));
  for (const char* bad :
       {R"({"shape":[2,2]})", R"({"shape":[2,3)", "", R"({"shape":[2,"3"]})", R"({"shape":[-2,-3]})"}) {
    expect_error(open_source("arrow:" + dir_.write("b.arrow", tensor(bad)), test_context()), Code::kCorrupt,
                 {"arrow.fixed_shape_tensor"});
  }
}

TEST_F(ArrowTest, OtherExtensionsAreTheirStorage) {
  TestColumn x = numbers<int32_t>("x", {1});
  x.field.fields.push_back({6, metadata({{"ARROW:extension:name", "my.type"}})});
  EXPECT_THAT(open(arrow_table({{x}}).file())->info().notes,
              Contains(HasSubstr("extension type 'my.type' ignored")));
}

TEST_F(ArrowTest, ColumnsThatAreNotReadCanBeLeftOut) {
  TestColumn amount{arrow_field("amount", arrow_type::kDecimal, {{0, flat_number(10)}, {1, flat_number(2)}}),
                    {{2, 0}},
                    {"", std::string(32, '\0')}};
  TestColumn nothing{arrow_field("nothing", arrow_type::kNull), {{2, 2}}, {}};
  TestColumn views{
      arrow_field("views", arrow_type::kBinaryView), {{2, 0}}, {"", std::string(32, '\0'), "data", "more"}};
  TestArrow table =
      arrow_table({{amount, numbers<int32_t>("x", {5, 6}), nothing, views, numbers<int8_t>("y", {1, 2})}});
  table.messages[0].variadic = {2};
  expect_error(open_source("arrow:" + dir_.write("b.arrow", table.file()), test_context()),
               Code::kUnsupported, {"column 'amount' is decimal128", "fields=x,views,y leaves it out"});
  EXPECT_EQ(rows<int8_t>(table, "?fields=x,y", 1), (Rows<int8_t>{{1}, {2}}));
}

TEST_F(ArrowTest, FilesBeforeTheMarkerAreRead) {
  TestArrow table = arrow_table({{numbers<int32_t>("x", {1, 2})}, {numbers<int32_t>("x", {3})}});
  table.marker = false;
  table.version = 3;
  for (TestMessage& message : table.messages) message.version = 3;
  EXPECT_EQ(rows<int32_t>(table), (Rows<int32_t>{{1}, {2}, {3}}));
}

TEST_F(ArrowTest, AFooterMayNotSayItsVersionIfTheMessagesDo) {
  TestArrow table = arrow_table({{numbers<int32_t>("x", {1, 2})}});
  table.version = 0;
  for (TestMessage& message : table.messages) message.version = 3;
  const SourceRef source = open(table.file());
  ASSERT_NE(source, nullptr);
  EXPECT_EQ(values_of<int32_t>(fetch_all(*source).bytes[0][1]), std::vector<int32_t>{2});
}

TEST_F(ArrowTest, AStreamWithoutAnEndMarkSaysSo) {
  TestArrow table = arrow_table({{numbers<int32_t>("x", {1, 2})}});
  table.end_mark = false;
  const SourceRef source = open(table.stream());
  EXPECT_EQ(source->count(), 2);
  EXPECT_THAT(source->info().notes, Contains(HasSubstr("no end mark")));
}

TEST_F(ArrowTest, ContentAndNamesTellTheFormat) {
  const TestArrow table = arrow_table({{numbers<int32_t>("x", {1, 2})}});
  for (const std::string& path :
       {dir_.write("file.bin", table.file()), dir_.write("stream.bin", table.stream()),
        dir_.write("set/data-0.arrow", table.stream())}) {
    const Result<SourceRef> source = open_source(path, test_context());
    ASSERT_TRUE(source.is_ok()) << source.status().message();
    EXPECT_EQ(source.value()->info().format, "arrow") << path;
  }
  dir_.write("set/data-1.arrow", table.stream());
  dir_.write("set/state.json", "{}");
  for (const std::string& uri :
       {dir_.path("set"), "arrow:" + dir_.path("set"), "arrow:" + dir_.path("set/data-{0..1}.arrow")})
    EXPECT_EQ(open_source(uri, test_context()).take()->count(), 4) << uri;
}

TEST_F(ArrowTest, BlocksEndWhereBatchesDo) {
  std::vector<std::vector<TestColumn>> batches;
  for (const int64_t rows : {10, 10, 0, 10, 100, 10})
    batches.push_back({numbers<int64_t>("x", std::vector<int64_t>(static_cast<size_t>(rows)))});
  const SourceRef source = open(arrow_table(batches).file());
  const auto cut = [&](int64_t bytes) {
    BlockEnds ends;
    source->append_blocks(bytes, ends);
    return std::vector<int64_t>(ends.begin(), ends.end());
  };
  EXPECT_THAT(cut(kWholeFiles), ElementsAre(140));
  EXPECT_THAT(cut(160), ElementsAre(20, 30, 50, 70, 90, 110, 130, 140)) << "a long batch is cut evenly";
  EXPECT_THAT(cut(1000), ElementsAre(30, 140));
  EXPECT_EQ(source->stored_bytes(), 8);
}

TEST_F(ArrowTest, LengthsAreKnownAndPacked) {
  const TestColumn tokens = lists<int32_t>("ids", {0, 3, 3, 5}, numbers<int32_t>("item", {1, 2, 3, 4, 5}));
  for (const IoMode io : kIoModes) {
    const SourceRef source = open(arrow_table({{tokens, numbers<int32_t>("y", {0, 0, 0})}}).file(), "", io);
    for (int64_t i = 0; i < 3; ++i)
      EXPECT_EQ(source->record_items(i), std::vector<int64_t>({3, 0, 2})[static_cast<size_t>(i)]);
    const SourceRef packed = open(arrow_table({{tokens}}).file(), "?pack_length=4", io);
    const Fetched rows = fetch_all(*packed);
    ASSERT_TRUE(rows.errors.empty());
    EXPECT_EQ(values_of<int32_t>(rows.bytes[0][0]), (std::vector<int32_t>{1, 2, 3, 4}));
    EXPECT_EQ(values_of<int32_t>(rows.bytes[0][1])[0], 5);
  }
}

TEST_F(ArrowTest, LongRowsAreRefusedWhereTheyAreCopied) {
  const SourceRef source =
      open(arrow_table({{texts("t", {std::string(5000, 'x'), "short"})}}).file(), "", IoMode::kPread);
  const Fetched rows = fetch_all(*source, {.max_bytes_per_sample = 64});
  ASSERT_EQ(rows.errors.size(), 1u);
  EXPECT_EQ(rows.errors.at(0).code(), Code::kTooLarge);
  EXPECT_THAT(rows.errors.at(0).message(), HasSubstr("5000 bytes, max_bytes_per_sample is 64"));
  EXPECT_EQ(rows.bytes[0][1], "short");
}

TEST_F(ArrowTest, ViewsAreTextsInTheViewItselfOrInOneOfItsBuffers) {
  const std::vector<std::string> first = {"", "twelve bytes", "thirteen byte", "a text that is long enough"},
                                 second = {"another that is long", "x", "thirteen more"};
  const TestArrow table =
      arrow_table({{views("t", first, 2)}, {views("t", second, 3)}, {views("t", {"y"}, 0)}});
  EXPECT_EQ(type_of(open(table.file())), "u8[-1]");
  EXPECT_EQ(open(table.file())->schema().fields[0].max_bytes, 26);
  std::vector<std::string> all = first;
  all.insert(all.end(), second.begin(), second.end());
  all.emplace_back("y");
  EXPECT_EQ(strings(rows<char>(table)), all);
}

TEST_F(ArrowTest, NullViewsAreBadOrEmptyAndViewsInDictionariesAreDecoded) {
  const TestArrow holes = arrow_table({{views("t", {"a text of some length", "b", "c"}, 1, "101")}});
  const Fetched fetched = fetch_all(*open(holes.file()));
  ASSERT_EQ(fetched.errors.size(), 1u);
  EXPECT_THAT(std::string(fetched.errors.at(1).message()), HasSubstr("a null"));
  EXPECT_THAT(strings(rows<char>(holes, "?nulls=fill(0)")), ElementsAre("a text of some length", "", "c"));
  const TestColumn words = views("w", {"a word of some length", "short"}, 1);
  TestArrow coded = arrow_table({{encoded<int8_t>(words, 7, {1, 0, 0})}});
  coded.messages.insert(coded.messages.begin(), arrow_dictionary(7, words));
  EXPECT_THAT(strings(rows<char>(coded)),
              ElementsAre("short", "a word of some length", "a word of some length"));
}

}  // namespace
}  // namespace dataline::arrow_test
