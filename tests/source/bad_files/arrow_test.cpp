// Damaged Arrow files: their messages and record batches. What lies in footers, schemas and values: arrow_schemas_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "core/source/arrow/arrow.h"
#include "core/source/open.h"
#include "tests/source/arrow/arrow_files.h"
#include "tests/source/arrow/compressed_files.h"
#include "tests/source/bad_files/bad_file_table.h"
#include "tests/source/frame_files.h"

namespace dataline::arrow_test {
namespace {

constexpr int64_t kMost = std::numeric_limits<int64_t>::max();

const std::string kGood = some_arrow().file(), kStream = some_arrow().stream();

Result<SourceRef> open(const std::string& path, const OpenContext& context) {
  return open_source("arrow:" + path, context);
}

std::string with(const std::function<void(TestArrow&)>& change) {
  TestArrow table = some_arrow();
  change(table);
  return table.file();
}
std::string stream_with(const std::function<void(TestArrow&)>& change) {
  TestArrow table = some_arrow();
  change(table);
  return table.stream();
}
std::vector<BadFile> frames() {
  using T = TestArrow;
  return {
      {"nothing", "", Code::kTruncated, {"offset 0", "got 0 bytes"}},
      {"half a magic", "ARR", Code::kTruncated, {"'ARROW1'", "3 bytes"}},
      {"magic only", "ARROW1", Code::kTruncated, {"18 bytes or more"}},
      {"two magics", std::string("ARROW1\0\0", 8) + "ARROW1", Code::kTruncated, {"got 14"}},
      {"Feather 1", "FEA1" + kGood, Code::kUnsupported, {"Feather 1", "write_feather"}},
      {"a Parquet file", "PAR1" + kGood, Code::kCorrupt, {"a Parquet file", "libdataline-parquet.so"}},
      {"a web page", "<!DOCTYPE html><title>404</title>" + kGood, Code::kCorrupt, {"HTML page"}},
      {"a git-LFS pointer", "version https://git-lfs.github.com/spec/v1\n", Code::kCorrupt, {"git-LFS"}},
      {"text",
       "hello, this is a text of some length",
       Code::kTruncated,
       {"offset 0", "the metadata of a message has"}},
      {"no magic at the end",
       with([](T& t) { t.tail = "ARROW2"; }),
       Code::kTruncated,
       {"its writer was not closed"}},
      {"a file that was not closed",
       std::string("ARROW1\0\0", 8) + kStream,
       Code::kTruncated,
       {"is truncated"}},
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
       with([](T& t) { t.footer_size = 3; }),
       Code::kCorrupt,
       {"of the metadata, which has 3"}},
      {"footer without a schema",
       with([](T& t) { t.footer_schema = false; }),
       Code::kCorrupt,
       {"without a schema"}},
      {"metadata V3", with([](T& t) { t.version = 2; }), Code::kUnsupported, {"version V3", "V4 or V5"}},
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

std::vector<BadFile> batches() {
  using T = TestArrow;
  const auto batch = [](const std::function<void(TestMessage&)>& change) {
    return with([&](T& t) { change(t.messages[1]); });
  };
  return {
      {"rows below 0", batch([](TestMessage& m) { m.rows = -1; }), Code::kCorrupt, {"has -1 rows"}},
      {"2^63 rows",
       batch([](TestMessage& m) { m.rows = kMost; }),
       Code::kCorrupt,
       {"9223372036854775807 rows"}},
      {"a row more",
       batch([](TestMessage& m) { m.rows = 4; }),
       Code::kCorrupt,
       {"has 4 rows, but one of its columns has 3"}},
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
       {"one of its columns has 2"}},
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
       {"a schema at the start of the stream"}},
      {"two streams in one", kStream + kStream, Code::kCorrupt, {"bytes after the end mark"}},
  };
}

// Of the first record batch, whose buffers are: no validity, x; none, the offsets of t, t; none, those of l; none, its items;
// none, the indices of w.
std::vector<BadFile> compressed() {
  const auto framed = [](const ArrowFrames& frames) {
    return with([&](TestArrow& t) { t.messages[1] = arrow_compressed(t.messages[1], 1, frames); });
  };
  // The frame of x, whose 12 bytes begin with `length`; those of the others are as they should be.
  const auto first = [&](int64_t length, const std::string& frame) {
    return framed([=](size_t number, const std::string& buffer) {
      if (number == 1) return stored_bytes(length) + frame;
      return stored_bytes(static_cast<int64_t>(buffer.size())) + zstd_stored(buffer);
    });
  };
  const std::string twelve = zstd_stored("123456789012");
  const std::string says = "a compressed buffer states ";
  return {
      {"a codec of 2",
       with([](TestArrow& t) { t.messages[1].codec = int8_t{2}; }),
       Code::kUnsupported,
       {"record batch 0", "codec 2 by method 0, expected 0 (LZ4) or 1"}},
      {"a codec below 0",
       with([](TestArrow& t) { t.messages[1].codec = int8_t{-1}; }),
       Code::kUnsupported,
       {"codec -1"}},
      {"whole bodies compressed",
       with([](TestArrow& t) {
         t.messages[1].codec = int8_t{1};
         t.messages[1].method = 1;
       }),
       Code::kUnsupported,
       {"codec 1 by method 1"}},
      {"a dictionary of codec 3",
       with([](TestArrow& t) { t.messages[0].codec = int8_t{3}; }),
       Code::kUnsupported,
       {"dictionary batch 0", "codec 3"}},
      {"said to be compressed, which it is not",
       with([](TestArrow& t) { t.messages[1].codec = int8_t{1}; }),
       Code::kCorrupt,
       {"offset ", says + "8589934593 bytes, 4 of Zstandard can hold at most 131072"}},
      {"a length alone, cut",
       framed([](size_t, const std::string&) { return std::string("1234567"); }),
       Code::kCorrupt,
       {"a compressed buffer of 7 bytes, but its length alone needs 8"}},
      {"a length below -1", first(-2, twelve), Code::kCorrupt, {says + "-2 bytes"}},
      {"the smallest length", first(std::numeric_limits<int64_t>::min(), twelve), Code::kCorrupt, {says}},
      {"the largest length", first(kMost, twelve), Code::kCorrupt, {says + "9223372036854775807 bytes"}},
      {"more than a frame can hold",
       first(int64_t{1} << 30, twelve),
       Code::kCorrupt,
       {says + "1073741824 bytes, ", " can hold at most "}},
      {"a length and no frame",
       first(12, ""),
       Code::kCorrupt,
       {says + "12 bytes, 0 of Zstandard can hold at most 0"}},
      {"more than needed, which is not there",
       first(13, twelve),
       Code::kCorrupt,
       {"decompresses to 12 bytes, expected 13"}},
      {"less than needed",
       first(11, twelve),
       Code::kCorrupt,
       {"column 'x'", "3 values need 12 bytes, the buffer has 11"}},
      {"less than needed, as it is",
       first(-1, "12345678901"),
       Code::kCorrupt,
       {"column 'x'", "the buffer has 11"}},
      {"a frame that is cut",
       first(12, twelve.substr(0, twelve.size() - 1)),
       Code::kCorrupt,
       {"Zstandard data is damaged or truncated"}},
      {"a frame of another codec",
       first(12, lz4_stored("123456789012")),
       Code::kCorrupt,
       {"Zstandard data is damaged"}},
      {"something behind the frame", first(12, twelve + "x"), Code::kCorrupt, {"damaged or truncated"}},
      {"a frame twice", first(12, twelve + twelve), Code::kCorrupt, {"damaged or truncated"}},
  };
}

TEST(BadArrowFiles, EachNamesFileExpectedAndGot) {
  std::vector<BadFile> table = frames();
  for (BadFile& more : batches()) table.push_back(std::move(more));
  std::string byte(1, '\0');
  const std::string frame = zstd_stored("x");
  const Status built = FrameInflater().inflate(FrameCodec::kZstd, "/x", std::as_bytes(std::span(frame)),
                                               std::as_writable_bytes(std::span(byte)));
  if (built.is_ok())
    for (BadFile& more : compressed()) table.push_back(std::move(more));
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
  // Everyday each seventh, so that of bits each place in a byte has its turn.
  const size_t stride = std::getenv("DATALINE_EVERY_CALL") != nullptr ? 1 : 7;
  for (const std::string& bytes : {kGood, kStream}) {
    TempDir dir;
    for (size_t bit = 0; bit < bytes.size() * 8; bit += stride) {
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

}  // namespace
}  // namespace dataline::arrow_test
