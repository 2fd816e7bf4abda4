// Arrow files whose footer, schema or values are damaged: what is refused when they are opened, and what makes rows bad.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "core/source/arrow/arrow.h"
#include "core/source/open.h"
#include "tests/source/arrow/arrow_files.h"
#include "tests/source/bad_files/bad_file_table.h"

namespace dataline::arrow_schemas_test {
namespace {

constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
using Blocks = std::vector<std::array<int64_t, 3>>;

const std::string kGood = some_arrow().file();

Result<SourceRef> open(const std::string& path, const OpenContext& context) {
  return open_source("arrow:" + path, context);
}

std::string with(const std::function<void(TestArrow&)>& change) {
  TestArrow table = some_arrow();
  change(table);
  return table.file();
}
std::string with_blocks(const std::function<void(Blocks& dictionaries, Blocks& batches)>& change) {
  return with([&](TestArrow& t) { t.blocks = change; });
}
// A table of one column.
std::string with_column(const TestColumn& column) { return arrow_table({{column}}).file(); }
std::string with_field(const FlatPart& field) {
  return with_column({field, {{1, 0}}, {"", std::string(64, '\0'), ""}});
}

std::vector<BadFile> blocks() {
  return {
      {"a batch beyond the end",
       with_blocks([](Blocks&, Blocks& b) { b[1][0] = 1 << 20; }),
       Code::kTruncated,
       {"offset 1048576", "messages end at"}},
      {"a batch before the start",
       with_blocks([](Blocks&, Blocks& b) { b[0][0] = -8; }),
       Code::kTruncated,
       {"offset -8"}},
      {"offset of 2^63",
       with_blocks([](Blocks&, Blocks& b) { b[0][0] = kMost; }),
       Code::kTruncated,
       {"9223372036854775807"}},
      {"metadata of 2^31",
       with_blocks([](Blocks&, Blocks& b) { b[0][1] = INT32_MAX; }),
       Code::kTruncated,
       {"2147483647"}},
      {"metadata below 0", with_blocks([](Blocks&, Blocks& b) { b[0][1] = -8; }), Code::kTruncated, {"-8"}},
      {"metadata too short",
       with_blocks([](Blocks&, Blocks& b) { b[0][1] = 16; }),
       Code::kCorrupt,
       {"the footer states 16"}},
      {"a body of 2^63",
       with_blocks([](Blocks&, Blocks& b) { b[0][2] = kMost; }),
       Code::kTruncated,
       {"9223372036854775807"}},
      {"another body",
       with_blocks([](Blocks&, Blocks& b) { b[0][2] -= 8; }),
       Code::kCorrupt,
       {"the footer states"}},
      {"a batch that is a dictionary",
       with_blocks([](Blocks& d, Blocks& b) { b[0] = d[0]; }),
       Code::kCorrupt,
       {"of kind 2", "the footer states 3"}},
      {"a dictionary that is a batch",
       with_blocks([](Blocks& d, Blocks& b) { d[0] = b[0]; }),
       Code::kCorrupt,
       {"of kind 3"}},
      {"a batch that is the schema",
       with_blocks([](Blocks&, Blocks& b) { b[0][0] = 8; }),
       Code::kCorrupt,
       {"offset 8"}},
      {"a batch in the middle of one",
       with_blocks([](Blocks&, Blocks& b) { b[0][0] += 8; }),
       Code::kCorrupt,
       {"offset"}},
      {"one batch many times",
       with_blocks([](Blocks&, Blocks& b) { b.resize(1000, b[0]); }),
       Code::kCorrupt,
       {"some of them overlap"}},
      {"a dictionary twice",
       with_blocks([](Blocks& d, Blocks&) { d.push_back(d[0]); }),
       Code::kCorrupt,
       {"dictionary 7 appears twice"}},
  };
}

std::vector<BadFile> schemas() {
  namespace t = arrow_type;
  FlatPart deep = arrow_field("x", t::kInt, int_type(8));
  for (int i = 0; i < 70; ++i) deep = arrow_field("x", t::kFixedList, size_type(1), {deep});
  return {
      {"integers of 24 bits",
       with_field(arrow_field("x", t::kInt, int_type(24))),
       Code::kCorrupt,
       {"'x'", "24"}},
      {"an unknown float",
       with_field(arrow_field("x", t::kFloat, {{0, flat_number<int16_t>(5)}})),
       Code::kCorrupt,
       {"'x'", "5"}},
      {"an unknown type", with_field(arrow_field("x", 99)), Code::kUnsupported, {"unknown type 99"}},
      {"no type", with_field(flat_table({{0, flat_text("x")}})), Code::kUnsupported, {"unknown type 0"}},
      {"a list without a child",
       with_field(arrow_field("x", t::kList)),
       Code::kCorrupt,
       {"0 children, expected 1"}},
      {"a number with a child",
       with_field(arrow_field("x", t::kInt, int_type(8), {arrow_field("y", t::kBool)})),
       Code::kCorrupt,
       {"1 children, expected none"}},
      {"fixed lists below 0",
       with_field(arrow_field("x", t::kFixedList, size_type(-2), {arrow_field("y", t::kBool)})),
       Code::kCorrupt,
       {"-2"}},
      {"fixed lists of nothing",
       with_field(arrow_field("x", t::kFixedList, size_type(0), {arrow_field("y", t::kBool)})),
       Code::kUnsupported,
       {"hold no bytes"}},
      {"fixed bytes of nothing",
       with_field(arrow_field("x", t::kFixedBinary, size_type(0))),
       Code::kUnsupported,
       {"hold no bytes"}},
      {"dims that overflow",
       with_field(arrow_field("x", t::kFixedList, size_type(INT32_MAX),
                              {arrow_field("y", t::kFixedList, size_type(INT32_MAX),
                                           {arrow_field("z", t::kFixedList, size_type(INT32_MAX),
                                                        {arrow_field("b", t::kBool)})})})),
       Code::kTooLarge,
       {"'x'"}},
      {"types nested too deep", with_field(deep), Code::kTooLarge, {"deeper than 64"}},
      {"two columns of one name",
       arrow_table({{numbers<int8_t>("x", {1}), numbers<int8_t>("x", {1})}}).file(),
       Code::kUnsupported,
       {"2 columns are called 'x'"}},
      {"a column without a name",
       with_column(numbers<int8_t>("", {1})),
       Code::kUnsupported,
       {"cannot name a field"}},
      {"a name with a line break",
       with_column(numbers<int8_t>("a\nb", {1})),
       Code::kUnsupported,
       {"cannot name a field"}},
      {"a long name",
       with_column(numbers<int8_t>(std::string(300, 'x'), {1})),
       Code::kUnsupported,
       {"cannot name a field"}},
      {"a decimal",
       with_field(arrow_field("x", t::kDecimal)),
       Code::kUnsupported,
       {"column 'x' is decimal128"}},
      {"an interval", with_field(arrow_field("x", t::kInterval)), Code::kUnsupported, {"interval"}},
      {"a union", with_field(arrow_field("x", t::kUnion)), Code::kUnsupported, {"sparse_union"}},
      {"a map",
       with_field(arrow_field("x", t::kMap, {}, {arrow_field("e", t::kStruct)})),
       Code::kUnsupported,
       {"map"}},
      {"nulls alone", with_field(arrow_field("x", t::kNull)), Code::kUnsupported, {"is null"}},
      {"a list of lists",
       with_field(
           arrow_field("x", t::kList, {}, {arrow_field("y", t::kList, {}, {arrow_field("z", t::kBool)})})),
       Code::kUnsupported,
       {"list<list<bool>>"}},
      {"a list of texts",
       with_field(arrow_field("x", t::kList, {}, {arrow_field("y", t::kUtf8)})),
       Code::kUnsupported,
       {"list<string>"}},
      {"list views",
       with_field(arrow_field("x", t::kListView, {}, {arrow_field("y", t::kBool)})),
       Code::kUnsupported,
       {"list_view"}},
      {"times of 64 bits in seconds",
       with_field(arrow_field("x", t::kTime, {{0, flat_number<int16_t>(0)}, {1, flat_number<int32_t>(64)}})),
       Code::kCorrupt,
       {"'x'", "64"}},
      {"a timestamp of an unknown unit",
       with_field(arrow_field("x", t::kTimestamp, {{0, flat_number<int16_t>(9)}})),
       Code::kCorrupt,
       {"'x'", "9"}},
      {"indices of 12 bits",
       with_field(arrow_field("x", t::kBool, {}, {}, {{4, flat_table({{1, flat_table(int_type(12))}})}})),
       Code::kCorrupt,
       {"indices of 12 bits"}},
      {"a dictionary inside a list",
       with_field(arrow_field("x", t::kList, {}, {encoded<int8_t>(texts("w", {}), 1, {}).field})),
       Code::kUnsupported,
       {"list<dictionary<values=string, indices=int8>>"}},
      {"run ends",
       with_field(arrow_field("x", t::kRunEnd, {}, {arrow_field("y", t::kBool), arrow_field("z", t::kBool)})),
       Code::kUnsupported,
       {"run_end_encoded"}},
  };
}

// A table of views whose batch says something else.
std::string with_views(const std::function<void(TestMessage&)>& change) {
  TestArrow table = arrow_table({{views("t", {"a text that is long"}, 1)}});
  change(table.messages[0]);
  return table.file();
}

std::vector<BadFile> views_of_batches() {
  return {
      {"a buffer of views beyond the body",
       with_views([](TestMessage& m) { m.buffers[2][1] = 1 << 20; }),
       Code::kCorrupt,
       {"'t'", "a buffer of 1048576 bytes", "of the body"}},
      {"a buffer of views before the body",
       with_views([](TestMessage& m) { m.buffers[2][0] = -8; }),
       Code::kCorrupt,
       {"'t'", "at byte -8 of the body"}},
      {"more buffers of views than there are",
       with_views([](TestMessage& m) { m.variadic = {7}; }),
       Code::kCorrupt,
       {"has 7 buffers for views"}},
      {"buffers of views below 0",
       with_views([](TestMessage& m) { m.variadic = {-1}; }),
       Code::kCorrupt,
       {"has -1 buffers for views"}},
      {"no number of buffers of views",
       with_views([](TestMessage& m) { m.variadic = {}; }),
       Code::kCorrupt,
       {"has -1 buffers for views"}},
      {"fewer views than rows",
       with_views([](TestMessage& m) { m.buffers[1][1] = 8; }),
       Code::kCorrupt,
       {"'t'", "1 values need 16 bytes", "has 8"}},
  };
}

TEST(BadArrowSchemas, EachNamesFileExpectedAndGot) {
  std::vector<BadFile> table = blocks();
  for (BadFile& more : schemas()) table.push_back(std::move(more));
  for (BadFile& more : views_of_batches()) table.push_back(std::move(more));
  check_bad_files(table, kGood, open, ".arrow");
}

struct BadRow {
  std::string name, bytes;
  int64_t row;
  std::vector<std::string> parts;
};

TEST(BadArrowRows, OnlyTheRowThatIsBadFails) {
  const auto offsets = [](std::vector<int32_t> numbers) {
    TestColumn column = texts("t", {"ab", "cd", "ef"});
    column.buffers[1] = raw_bytes(numbers);
    return with_column(column);
  };
  // The second of three views, with another number at this byte.
  const auto view = [](size_t byte, int32_t number) {
    TestColumn column = views("t", {"short", "fourteen bytes", "and this one has more"}, 2);
    column.buffers[1].replace(16 + byte, 4, stored_bytes(number));
    return with_column(column);
  };
  const TestColumn words = texts("w", {"red", "green"});
  const auto indices = [&](const TestColumn& column) {
    TestArrow table = arrow_table({{column}});
    table.messages.insert(table.messages.begin(), arrow_dictionary(7, words));
    return table.file();
  };
  const std::vector<BadRow> table = {
      {"an offset below 0", offsets({-1, 2, 4, 6}), 0, {"offsets are -1 and 2"}},
      {"an offset beyond the data", offsets({0, 2, 4, 7}), 2, {"offsets are 4 and 7", "0 to 6"}},
      {"the largest offset", offsets({0, 2, 4, INT32_MAX}), 2, {"2147483647"}},
      {"the smallest offset", offsets({INT32_MIN, 2, 4, 6}), 0, {"-2147483648"}},
      {"an index beyond the dictionary",
       indices(encoded<int8_t>(words, 7, {0, 2, 1})),
       1,
       {"index 2 of a dictionary of 2"}},
      {"an index below 0", indices(encoded<int32_t>(words, 7, {-1, 0, 1})), 0, {"index -1"}},
      {"an index of 2^63",
       indices(encoded<uint64_t>(words, 7, {0, 1, uint64_t{1} << 63})),
       2,
       {"index -9223372036854775808"}},
      {"a dictionary that is missing",
       with_column(encoded<int8_t>(words, 7, {5})),
       0,
       {"a dictionary of 0 values"}},
      {"a null", with_column(numbers<int8_t>("x", {1, 2, 3}, "101")), 1, {"a null"}},
      {"a view of a length below 0", view(0, -1), 1, {"its view of -1 bytes has a length below 0"}},
      {"a view of a buffer that is not there", view(8, 2), 1, {"14 bytes has a buffer that is not there"}},
      {"a view of a buffer below 0", view(8, -1), 1, {"a buffer that is not there"}},
      {"a view beyond its buffer", view(12, 15), 1, {"bytes beyond their buffer"}},
      {"a view before its buffer", view(12, -1), 1, {"bytes beyond their buffer"}},
      {"a view of the largest length", view(0, INT32_MAX), 1, {"2147483647 bytes has bytes beyond"}},
  };
  TempDir dir;
  for (const BadRow& bad : table) {
    SCOPED_TRACE(bad.name);
    for (const IoMode io : {IoMode::kMmap, IoMode::kPread, IoMode::kMemory}) {
      Result<SourceRef> source = open(dir.write("bad.arrow", bad.bytes), test_context(io));
      ASSERT_TRUE(source.is_ok()) << source.status().message();
      const Fetched rows = fetch_all(*source.value());
      ASSERT_EQ(rows.errors.size(), 1u);
      const Status& status = rows.errors.at(bad.row);
      EXPECT_EQ(status.code(), Code::kCorrupt);
      for (const std::string& part : bad.parts)
        EXPECT_NE(status.message().find(part), std::string::npos) << status.message();
    }
  }
}

TEST(BadArrowRows, OffsetsThatGoBackSpoilTheRowsAroundThem) {
  TestColumn column = texts("t", {"ab", "cd", "ef"});
  column.buffers[1] = raw_bytes(std::vector<int32_t>{0, 5, 4, 6});
  TempDir dir;
  const Fetched rows = fetch_all(*open(dir.write("bad.arrow", with_column(column)), test_context()).take());
  ASSERT_EQ(rows.errors.size(), 1u);
  EXPECT_TRUE(rows.errors.contains(1));
}

TEST(BadArrowKeys, FieldsAndNullsThatAreNoneSayWhatIsExpected) {
  TempDir dir;
  const std::string uri = "arrow:" + dir.write("a.arrow", kGood);
  expect_error(open_source(uri + "?fields=xx", test_context()), Code::kNoSuchField, {"no column 'xx'"});
  expect_error(open_source(uri + "?fields=x,,t", test_context()), Code::kBadUri, {"expected names"});
  expect_error(open_source(uri + "?fields=x,x", test_context()), Code::kBadUri, {"named twice"});
  for (const char* value : {"masks", "fill", "fill()", "fill(x)", "fill(1", "", "Error"})
    expect_error(open_source(uri + "?nulls=" + value, test_context()), Code::kBadUri,
                 {"expected error, fill(NUMBER) or mask"});
}

}  // namespace
}  // namespace dataline::arrow_schemas_test
