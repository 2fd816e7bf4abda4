// Damaged Arrow files: what is refused when they are opened, and what makes single rows bad.
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

namespace dataline {
namespace {

constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
using Blocks = std::vector<std::array<int64_t, 3>>;

// Two batches of numbers, texts and lists, and a dictionary.
TestArrow good() {
  const TestColumn words = texts("w", {"red", "green"});
  const auto batch = [&] {
    return std::vector<TestColumn>{numbers<int32_t>("x", {1, 2, 3}), texts("t", {"a", "bc", "d"}),
                                   lists<int32_t>("l", {0, 2, 2, 3}, numbers<int16_t>("item", {4, 5, 6})),
                                   encoded<int8_t>(words, 7, {0, 1, 0})};
  };
  TestArrow out = arrow_table({batch(), batch()});
  out.messages.insert(out.messages.begin(), arrow_dictionary(7, words));
  return out;
}
const std::string kGood = good().file(), kStream = good().stream();

Result<SourceRef> open(const std::string& path, const OpenContext& context) {
  return open_source("arrow:" + path, context);
}

std::string with(const std::function<void(TestArrow&)>& change) {
  TestArrow table = good();
  change(table);
  return table.file();
}
std::string stream_with(const std::function<void(TestArrow&)>& change) {
  TestArrow table = good();
  change(table);
  return table.stream();
}
std::string with_blocks(const std::function<void(Blocks& dictionaries, Blocks& batches)>& change) {
  return with([&](TestArrow& t) { t.blocks = change; });
}
// A table of one column.
std::string with_column(const TestColumn& column) { return arrow_table({{column}}).file(); }
std::string with_field(const FlatPart& field) {
  return with_column({field, {{1, 0}}, {"", std::string(64, '\0'), ""}});
}

std::vector<BadFile> frames() {
  using T = TestArrow;
  return {
      {"nothing", "", Code::kTruncated, {"offset 0", "this one has 0 bytes"}},
      {"half a magic", "ARR", Code::kTruncated, {"'ARROW1'", "3 bytes"}},
      {"magic only", "ARROW1", Code::kTruncated, {"18 bytes at least"}},
      {"two magics", std::string("ARROW1\0\0", 8) + "ARROW1", Code::kTruncated, {"this one has 14"}},
      {"Feather 1", "FEA1" + kGood, Code::kUnsupported, {"Feather 1", "write_feather"}},
      {"a Parquet file", "PAR1" + kGood, Code::kCorrupt, {"a Parquet file"}},
      {"a web page", "<!DOCTYPE html><title>404</title>" + kGood, Code::kCorrupt, {"HTML page"}},
      {"a git-LFS pointer", "version https://git-lfs.github.com/spec/v1\n", Code::kCorrupt, {"git-LFS"}},
      {"text",
       "hello, this is a text of some length",
       Code::kTruncated,
       {"offset 0", "the metadata of a message have"}},
      {"no magic at the end",
       with([](T& t) { t.tail = "ARROW2"; }),
       Code::kTruncated,
       {"its writer was not closed"}},
      {"a file that was not closed", std::string("ARROW1\0\0", 8) + kStream, Code::kTruncated, {"is cut"}},
      {"footer of 0 bytes",
       with([](T& t) { t.footer_size = 0; }),
       Code::kCorrupt,
       {"the footer has 0 bytes"}},
      {"footer below 0", with([](T& t) { t.footer_size = -8; }), Code::kCorrupt, {"the footer has -8"}},
      {"footer too long",
       with([](T& t) { t.footer_size = 1 << 20; }),
       Code::kCorrupt,
       {"the footer has 1048576", "room for"}},
      {"footer of the largest size",
       with([](T& t) { t.footer_size = INT32_MAX; }),
       Code::kCorrupt,
       {"2147483647"}},
      {"footer cut in front",
       with([](T& t) { t.footer_size = 4; }),
       Code::kCorrupt,
       {"of the metadata, which has 4"}},
      {"footer without a schema",
       with([](T& t) { t.footer_schema = false; }),
       Code::kCorrupt,
       {"without a schema"}},
      {"metadata V3", with([](T& t) { t.version = 2; }), Code::kUnsupported, {"version V3", "V4 and V5"}},
      {"metadata V6", with([](T& t) { t.version = 5; }), Code::kUnsupported, {"version V6"}},
      {"a batch of V3", with([](T& t) { t.messages[1].version = 2; }), Code::kUnsupported, {"version V3"}},
      {"the other byte order", with([](T& t) { t.endianness = 1; }), Code::kUnsupported, {"byte order 1"}},
      {"an unknown byte order", with([](T& t) { t.endianness = 7; }), Code::kUnsupported, {"byte order 7"}},
      {"no columns",
       with([](T& t) {
         t.fields.clear();
         t.messages.clear();
       }),
       Code::kUnsupported,
       {"without columns"}},
  };
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
       {"the footer says 16"}},
      {"a body of 2^63",
       with_blocks([](Blocks&, Blocks& b) { b[0][2] = kMost; }),
       Code::kTruncated,
       {"9223372036854775807"}},
      {"another body",
       with_blocks([](Blocks&, Blocks& b) { b[0][2] -= 8; }),
       Code::kCorrupt,
       {"the footer says"}},
      {"a batch that is a dictionary",
       with_blocks([](Blocks& d, Blocks& b) { b[0] = d[0]; }),
       Code::kCorrupt,
       {"of kind 2", "the footer says 3"}},
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
       {"dictionary 7 a second time"}},
  };
}

std::vector<BadFile> batches() {
  using T = TestArrow;
  const auto batch = [](const std::function<void(TestMessage&)>& change) {
    return with([&](T& t) { change(t.messages[1]); });
  };
  return {
      {"compressed by LZ4",
       batch([](TestMessage& m) { m.codec = int8_t{0}; }),
       Code::kUnsupported,
       {"record batch 0", "LZ4", "compression=None"}},
      {"compressed by ZSTD",
       batch([](TestMessage& m) { m.codec = int8_t{1}; }),
       Code::kUnsupported,
       {"ZSTD", "uncompressed"}},
      {"rows below 0", batch([](TestMessage& m) { m.rows = -1; }), Code::kCorrupt, {"has -1 rows"}},
      {"2^63 rows",
       batch([](TestMessage& m) { m.rows = kMost; }),
       Code::kCorrupt,
       {"9223372036854775807 rows"}},
      {"a row more",
       batch([](TestMessage& m) { m.rows = 4; }),
       Code::kCorrupt,
       {"has 4 rows, one of its columns 3"}},
      {"an array less",
       batch([](TestMessage& m) { m.nodes.pop_back(); }),
       Code::kCorrupt,
       {"has 4 arrays, the schema has 5"}},
      {"an array more",
       batch([](TestMessage& m) {
         m.nodes.push_back({3, 0});
       }),
       Code::kCorrupt,
       {"has 6 arrays"}},
      {"a buffer less",
       batch([](TestMessage& m) { m.buffers.pop_back(); }),
       Code::kCorrupt,
       {"has 10 buffers, the schema needs 11"}},
      {"a buffer more",
       batch([](TestMessage& m) {
         m.buffers.push_back({0, 0});
       }),
       Code::kCorrupt,
       {"has 12 buffers"}},
      {"no buffers", batch([](TestMessage& m) { m.buffers.clear(); }), Code::kCorrupt, {"has 0 buffers"}},
      {"an array of -1 values",
       batch([](TestMessage& m) {
         m.nodes[3] = {-1, 0};
       }),
       Code::kCorrupt,
       {"an array of -1 values"}},
      {"an array of 2^63 values",
       batch([](TestMessage& m) {
         m.nodes[3] = {kMost, 0};
       }),
       Code::kCorrupt,
       {"an array of 9223372036854775807"}},
      {"values that need 2^63 bytes",
       batch([](TestMessage& m) {
         m.nodes[3] = {int64_t{1} << 62, 0};
       }),
       Code::kCorrupt,
       {"column 'l'", "4611686018427387904 values need"}},
      {"more nulls than values",
       batch([](TestMessage& m) {
         m.nodes[0] = {3, 4};
       }),
       Code::kCorrupt,
       {"3 values, 4 of them null"}},
      {"nulls below 0",
       batch([](TestMessage& m) {
         m.nodes[0] = {3, -1};
       }),
       Code::kCorrupt,
       {"-1 of them null"}},
      {"nulls without a bitmap",
       batch([](TestMessage& m) {
         m.nodes[0] = {3, 1};
       }),
       Code::kCorrupt,
       {"column 'x'", "(validity)"}},
      {"a column shorter than the batch",
       batch([](TestMessage& m) {
         m.nodes[1] = {2, 0};
       }),
       Code::kCorrupt,
       {"one of its columns 2"}},
      {"a buffer beyond the body",
       batch([](TestMessage& m) { m.buffers[1][0] = 1 << 20; }),
       Code::kCorrupt,
       {"column 'x'", "at byte 1048576 of the body"}},
      {"a buffer before the body",
       batch([](TestMessage& m) { m.buffers[1][0] = -8; }),
       Code::kCorrupt,
       {"at byte -8"}},
      {"a buffer of 2^63",
       batch([](TestMessage& m) { m.buffers[1][1] = kMost; }),
       Code::kCorrupt,
       {"a buffer of 9223372036854775807"}},
      {"a buffer below 0",
       batch([](TestMessage& m) { m.buffers[1][1] = -12; }),
       Code::kCorrupt,
       {"a buffer of -12"}},
      {"a buffer at 2^63",
       batch([](TestMessage& m) {
         m.buffers[1] = {kMost, 12};
       }),
       Code::kCorrupt,
       {"at byte 9223372036854775807"}},
      {"numbers cut",
       batch([](TestMessage& m) { m.buffers[1][1] = 11; }),
       Code::kCorrupt,
       {"3 values need 12 bytes, the buffer has 11"}},
      {"offsets cut",
       batch([](TestMessage& m) { m.buffers[3][1] = 12; }),
       Code::kCorrupt,
       {"column 't'", "need 16 bytes, the buffer has 12"}},
      {"items of a list cut",
       batch([](TestMessage& m) { m.buffers[8][1] = 4; }),
       Code::kCorrupt,
       {"column 'l'", "need 6 bytes"}},
      {"indices cut",
       batch([](TestMessage& m) { m.buffers[10][1] = 2; }),
       Code::kCorrupt,
       {"column 'w'", "need 3 bytes"}},
      {"a dictionary compressed",
       with([](T& t) { t.messages[0].codec = int8_t{1}; }),
       Code::kUnsupported,
       {"dictionary batch 0", "ZSTD"}},
      {"a dictionary's texts cut",
       with([](T& t) { t.messages[0].buffers[1][1] = 8; }),
       Code::kCorrupt,
       {"dictionary batch 0", "need 12 bytes"}},
      {"a body below 0 in a stream",
       stream_with([](T& t) { t.messages[1].body_bytes = int64_t{1} << 40; }),
       Code::kTruncated,
       {"the body of a message has 1099511627776"}},
      {"a tensor in a stream",
       stream_with([](T& t) { t.messages[1].kind = 4; }),
       Code::kUnsupported,
       {"of kind 4"}},
      {"a second schema",
       stream_with([](T& t) { t.messages[1].kind = 1; }),
       Code::kCorrupt,
       {"a second schema"}},
      {"a stream without a schema",
       kStream.substr(kStream.size() - 8),
       Code::kCorrupt,
       {"begins with a schema"}},
      {"two streams in one", kStream + kStream, Code::kCorrupt, {"bytes after the end mark"}},
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
      {"views", with_field(arrow_field("x", t::kBinaryView)), Code::kUnsupported, {"binary_view"}},
      {"run ends",
       with_field(arrow_field("x", t::kRunEnd, {}, {arrow_field("y", t::kBool), arrow_field("z", t::kBool)})),
       Code::kUnsupported,
       {"run_end_encoded"}},
  };
}

TEST(BadArrowFiles, EachNamesFileExpectedAndGot) {
  std::vector<BadFile> table = frames();
  for (std::vector<BadFile> more : {blocks(), batches(), schemas()})
    table.insert(table.end(), more.begin(), more.end());
  check_bad_files(table, kGood, open, ".arrow");
}

TEST(BadArrowFiles, EveryPrefixOfAFileIsTruncated) { check_prefixes(kGood, open, ".arrow"); }

TEST(BadArrowFiles, APrefixOfAStreamIsTruncatedUnlessItEndsBetweenMessages) {
  TempDir dir;
  int whole = 0;
  for (size_t length = 0; length < kStream.size(); ++length) {
    const Result<SourceRef> source = open(dir.write("cut.arrow", kStream.substr(0, length)), test_context());
    whole += source.is_ok() ? 1 : 0;
    if (source.is_ok()) continue;
    EXPECT_EQ(source.status().code(), Code::kTruncated) << length << source.status().message();
  }
  EXPECT_EQ(whole, 4) << "behind the schema, the dictionary and two batches";
}

TEST(BadArrowFiles, NoFlippedBitReadsOutsideTheFile) {
  for (const std::string& bytes : {kGood, kStream}) {
    TempDir dir;
    for (size_t bit = 0; bit < bytes.size() * 8; ++bit) {
      std::string flipped = bytes;
      flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << (bit % 8)));
      OpenContext context = test_context(IoMode::kMemory);
      Result<SourceRef> source = open(dir.write("flipped.arrow", flipped), context);
      EXPECT_LT(context.memory->peak_bytes(), kMostGrowthBytes);
      if (!source.is_ok()) continue;
      ASSERT_LE(source.value()->count(), 64);
      fetch_all(*source.value());
    }
  }
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
  for (const char* value : {"mask", "fill", "fill()", "fill(x)", "fill(1", "", "Error"})
    expect_error(open_source(uri + "?nulls=" + value, test_context()), Code::kBadUri, {"error or fill(V)"});
}

}  // namespace
}  // namespace dataline
