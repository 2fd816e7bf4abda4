// Damaged TFRecord files, and records that are no Examples.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "core/source/open.h"
#include "tests/source/bad_files/bad_file_table.h"
#include "tests/source/gzip_files.h"
#include "tests/source/tfrecord/tfrecord_files.h"

namespace dataline::tfrecord_test {
namespace {

const std::string kFirst = example_record({{"id", int_feature({1, 2})}, {"text", bytes_feature({"one"})}});
const std::string kGood =
    kFirst + example_record({{"id", int_feature({3, 4})}, {"text", bytes_feature({"second"})}});

Result<SourceRef> open(const std::string& path, const OpenContext& context) {
  return open_source("tfrecord:" + path, context);
}

std::string at_first(std::string_view words) {
  return "offset " + std::to_string(kFirst.size()) + ": record 1: " + std::string(words);
}

std::string flipped(std::string bytes, size_t at, char bits = 1) {
  bytes[at] = static_cast<char>(bytes[at] ^ bits);
  return bytes;
}

// A header with a right checksum that says anything, and some bytes after it.
std::string says(uint64_t length, size_t bytes = 20) {
  return record_header(length) + std::string(bytes, 'd');
}

std::vector<BadFile> headers() {
  constexpr uint64_t kMost = std::numeric_limits<uint64_t>::max();
  return {
      {"nothing", "", Code::kEmpty, {"no records", "fields="}},
      {"one byte",
       "\x05",
       Code::kTruncated,
       {"offset 0: record 0: expected its header", "12 bytes, the file has 1"}},
      {"a length only", record_header(3).substr(0, 8), Code::kTruncated, {"file has 8 more"}},
      {"a header less a byte", record_header(3).substr(0, 11), Code::kTruncated, {"file has 11 more"}},
      {"a header only", record_header(3), Code::kTruncated, {"its data of 3 bytes", "file has 0 more"}},
      {"an empty record without its end",
       record_header(0) + "abc",
       Code::kTruncated,
       {"data of 0 bytes", "3 more"}},
      {"a wrong checksum",
       flipped(kGood, 8),
       Code::kCorrupt,
       {"offset 0: record 0: the checksum of its length"}},
      {"a checksum that is not masked",
       raw_bytes(uint64_t{3}) + raw_bytes(slow_crc32c(raw_bytes(uint64_t{3}))) + "abc" + masked_crc("abc"),
       Code::kCorrupt,
       {"the checksum of its length, 3, is 0x", "expected 0x"}},
      {"a length of another bit",
       flipped(kGood, 0),
       Code::kCorrupt,
       {"record 0: the checksum of its length"}},
      {"a length of its highest bit", flipped(kGood, 7, '\x80'), Code::kCorrupt, {"record 0"}},
      {"a big-endian length",
       std::string("\0\0\0\0\0\0\0\3", 8) + masked_crc(raw_bytes(uint64_t{3})) + "abc" + masked_crc("abc"),
       Code::kCorrupt,
       {"length, 216172782113783808, is"}},
      {"a length of all bits",
       says(kMost),
       Code::kTruncated,
       {"18446744073709551615 bytes", "file has 20 more"}},
      {"2^63 bytes", says(uint64_t{1} << 63), Code::kTruncated, {"9223372036854775808 bytes"}},
      {"2^63 - 1 bytes", says((uint64_t{1} << 63) - 1), Code::kTruncated, {"9223372036854775807 bytes"}},
      {"a length that wraps with its frame",
       says(kMost - 15),
       Code::kTruncated,
       {"18446744073709551600 bytes"}},
      {"2^32 bytes", says(uint64_t{1} << 32), Code::kTruncated, {"4294967296 bytes"}},
      {"a byte more than there is", says(17), Code::kTruncated, {"data of 17 bytes", "file has 20 more"}},
      {"all that is left, without a checksum", says(20), Code::kTruncated, {"data of 20 bytes"}},
  };
}

std::vector<BadFile> later_records() {
  const std::string second = kGood.substr(kFirst.size());
  return {
      {"a second length of another bit",
       kFirst + flipped(second, 0),
       Code::kCorrupt,
       {at_first("the checksum of its length"), "the next record cannot be found"}},
      {"a second checksum of another bit",
       kFirst + flipped(second, 11),
       Code::kCorrupt,
       {at_first("the checksum")}},
      {"one byte after the last",
       kGood + "x",
       Code::kTruncated,
       {"record 2: expected its header", "file has 1 more"}},
      {"zeros after the last",
       kGood + std::string(512, '\0'),
       Code::kCorrupt,
       {"record 2: the checksum", "length, 0,"}},
      {"text after the last", kGood + "the end of the file", Code::kCorrupt, {"record 2: the checksum"}},
      {"a header after the last",
       kGood + record_header(5),
       Code::kTruncated,
       {"record 2: expected its data of 5"}},
      {"a record cut in its data",
       kGood + record("abcdef").substr(0, 15),
       Code::kTruncated,
       {"record 2: expected its data of 6 bytes and their checksum, the file has 3 more", "partial=ignore"}},
      {"a record cut in its checksum",
       kGood + record("abcdef").substr(0, 21),
       Code::kTruncated,
       {"file has 9 more"}},
      {"a byte is missing in the first",
       kFirst.substr(0, 20) + kGood.substr(21),
       Code::kCorrupt,
       {"record 1: the checksum of its length"}},
      {"a byte too many in the first",
       kFirst.substr(0, 20) + "x" + kGood.substr(20),
       Code::kCorrupt,
       {"record 1"}},
      {"a gap",
       kFirst + std::string(4, '\0') + second,
       Code::kCorrupt,
       {at_first("the checksum of its length")}},
      {"the first half twice", kFirst.substr(0, 30) + kGood, Code::kCorrupt, {"record 1"}},
  };
}

std::vector<BadFile> strangers() {
  const auto zlib = [](std::string_view first) { return std::string(first) + std::string(40, 'z'); };
  return {
      {"zlib data",
       zlib("\x78\x9c"),
       Code::kUnsupported,
       {"offset 0: this is zlib data", "without compression"}},
      {"zlib data, fast", zlib("\x78\x01"), Code::kUnsupported, {"zlib data"}},
      {"zlib data, best", zlib("\x78\xda"), Code::kUnsupported, {"zlib data"}},
      {"zstd data that breaks off",
       zlib("\x28\xb5\x2f\xfd"),
       Code::kTruncated,
       {"its Zstandard data is truncated"}},
      {"a web page", "<!DOCTYPE html><title>404</title>" + kGood, Code::kCorrupt, {"got an HTML page"}},
      {"a git-LFS pointer", "version https://git-lfs.github.com/spec/v1\n", Code::kCorrupt, {"git lfs pull"}},
      {"an npy file", "\x93NUMPY" + kGood, Code::kCorrupt, {"an npy file"}},
      {"a PNG image", "\x89PNG\r\n" + kGood, Code::kCorrupt, {"a PNG image"}},
      {"a Parquet file", "PAR1" + kGood, Code::kCorrupt, {"a Parquet file"}},
      {"a zip archive", "PK\x03\x04" + kGood, Code::kCorrupt, {"a zip archive"}},
      {"cut gzip data", gzip_stored(kGood).substr(0, 12), Code::kTruncated, {"gzip"}},
      {"gzip data of something else",
       gzip_stored("hello, this is text"),
       Code::kCorrupt,
       {"record 0: the checksum"}},
      {"gzip data of a cut file", gzip_stored(kFirst.substr(0, 30)), Code::kTruncated, {"record 0"}},
      {"gzip data of nothing", gzip_stored(""), Code::kEmpty, {"no records"}},
  };
}

std::vector<BadFile> first_examples() {
  const auto first = [](std::string name, const std::string& feature, Code code,
                        std::vector<std::string> parts) {
    return BadFile{std::move(name), example_record({{"ok", int_feature({1})}, {"a", feature}}), code,
                   std::move(parts)};
  };
  const std::string list = wire_bytes(1, wire_bytes(1, "t") + wire_bytes(2, wire_bytes(1, int_feature({1}))));
  const auto named = [](const std::string& name) { return example_record({{name, int_feature({1})}}); };
  Features many;
  for (int i = 0; i <= 1024; ++i) many.emplace_back("f" + std::to_string(i), int_feature({i}));
  return {
      {"wrong checksum of the first data",
       flipped(kGood, 14),
       Code::kCorrupt,
       {"record 0: the checksum of its data"}},
      {"wrong bits in its checksum",
       flipped(kGood, kFirst.size() - 1),
       Code::kCorrupt,
       {"record 0: the checksum", "inferred"}},
      first("several byte strings", bytes_feature({"a", "b"}), Code::kUnsupported,
            {"record 0: feature 'a' has 2 byte strings", "leave it out"}),
      {"a sequence",
       record(example({{"n", int_feature({1})}}) + wire_bytes(2, list)),
       Code::kUnsupported,
       {"record 0: a tf.train.SequenceExample", "records=bytes"}},
      {"a sequence without a context", record(wire_bytes(2, list)), Code::kUnsupported, {"SequenceExample"}},
      {"a name that is too long",
       named(std::string(256, 'n')),
       Code::kUnsupported,
       {"cannot name a field", "255"}},
      {"more features than fields", record(example(many)), Code::kTooLarge, {"1025 features, at most 1024"}},
  };
}

TEST(BadTfRecordFiles, EachNamesFileOffsetExpectedAndGot) {
  std::vector<BadFile> table = headers();
  for (std::vector<BadFile> more : {later_records(), strangers(), first_examples()})
    table.insert(table.end(), more.begin(), more.end());
  check_bad_files(table, kGood, open, ".tfrecord");
}

// But for where the file ends with a record.
TEST(BadTfRecordFiles, EveryPrefixIsTruncated) {
  TempDir dir;
  for (size_t length = 1; length < kGood.size(); ++length) {
    if (length == kFirst.size()) continue;
    Result<SourceRef> source = open(dir.write("cut.tfrecord", kGood.substr(0, length)), test_context());
    expect_error(source, Code::kTruncated, {length < kFirst.size() ? "record 0" : "record 1"});
  }
}

// Every bit is under a checksum: the file is refused, or one of its records is.
TEST(BadTfRecordFiles, NoFlippedBitIsRead) {
  TempDir dir;
  for (const std::string keys : {"", "?fields=id:i64[2]", "?records=bytes"}) {
    for (size_t bit = 0; bit < kGood.size() * 8; bit += static_cast<size_t>(sweep_stride())) {
      const std::string bytes = flipped(kGood, bit / 8, static_cast<char>(1 << bit % 8));
      const std::string path = dir.write("flipped.tfrecord", bytes);
      const Result<SourceRef> source = open_source("tfrecord:" + path + keys, test_context());
      if (source.is_ok()) {
        EXPECT_EQ(fetch_all(*source.value()).errors.size(), 1u) << "bit " << bit;
      }
    }
  }
}

struct BadExample {
  std::string name, bytes;
  std::string part;  // of the message
};

std::vector<BadExample> examples() {
  const auto feature = [](const std::string& bytes) { return example({{"id", bytes}}); };
  const auto list = [&](uint64_t kind, const std::string& bytes) { return feature(wire_bytes(kind, bytes)); };
  return {
      {"no message", "hello", "wire type"},
      {"a cut tag", "\x80", "is truncated"},
      {"field 0", std::string("\0\1", 2), "field number"},
      {"a group", "\x0b\x0c", "wire type"},
      {"an end of a group", "\x0c", "wire type"},
      {"wire type 6", "\x0e\x01", "wire type"},
      {"wire type 7", "\x0f\x01", "wire type"},
      {"features longer than the record", wire_tag(1, 2) + wire_varint(100) + "x", "longer"},
      {"a length of 2^64 - 1", wire_tag(1, 2) + wire_varint(~uint64_t{0}) + "x", "longer"},
      {"a length of 2^63", wire_tag(1, 2) + wire_varint(uint64_t{1} << 63) + "x", "longer"},
      {"an entry longer than the features", wire_bytes(1, wire_tag(1, 2) + wire_varint(9) + "x"), "longer"},
      {"a name longer than its entry", wire_bytes(1, wire_bytes(1, "\x0a\x09xx")), "longer"},
      {"a feature longer than its entry", wire_bytes(1, wire_bytes(1, wire_bytes(1, "id") + "\x12\x09x")),
       "longer"},
      {"a list longer than its feature", feature("\x1a\x09x"), "longer"},
      {"values longer than their list", list(3, "\x0a\x09\x01"), "longer"},
      {"two values in an entry", wire_bytes(1, wire_bytes(1, wire_bytes(2, "") + wire_bytes(2, ""))),
       "two values"},
      {"a cut number", list(3, wire_bytes(1, "\x01\x80")), "is truncated"},
      {"a number of eleven bytes", list(3, wire_bytes(1, std::string(10, '\xff') + "\x01")), "64 bits"},
      {"a number of 65 bits", list(3, wire_bytes(1, std::string(9, '\xff') + "\x02")), "64 bits"},
      {"a cut unpacked number", list(3, "\x08\x80"), "is truncated"},
      {"floats of five bytes",
       example({{"id", int_feature({1, 2})}, {"f", wire_bytes(2, wire_bytes(1, "12345"))}}), "four bytes"},
      {"a cut unpacked float", example({{"id", int_feature({1, 2})}, {"f", wire_bytes(2, "\x0d\x01\x02")}}),
       "longer"},
      {"a cut fixed64", "\x09\x01", "longer"},
      {"a cut fixed32", "\x0d\x01", "longer"},
  };
}

TEST(BadTfRecordFiles, ABadExampleIsABadSampleWithItsOffset) {
  TempDir dir;
  const std::string good = example_record({{"id", int_feature({5, 6})}, {"f", float_feature({1})}});
  for (const BadExample& bad : examples()) {
    SCOPED_TRACE(bad.name);
    for (IoMode io : {IoMode::kMmap, IoMode::kPread, IoMode::kMemory}) {
      const std::string path = dir.write("bad.tfrecord", good + record(bad.bytes) + good);
      const Result<SourceRef> source =
          open_source("tfrecord:" + path + "?fields=id:i64[2],f:f32", test_context(io));
      ASSERT_TRUE(source.is_ok()) << source.status().message();
      const Fetched rows = fetch_all(*source.value());
      ASSERT_EQ(rows.errors.size(), 1u);
      const Status& status = rows.errors.at(1);
      EXPECT_EQ(status.code(), Code::kCorrupt);
      EXPECT_THAT(status.message(), testing::StartsWith(path + ": offset "));
      EXPECT_THAT(status.message(), testing::HasSubstr(": record 1: not a tf.train.Example: "));
      EXPECT_THAT(status.message(), testing::HasSubstr(bad.part));
      EXPECT_EQ(rows.bytes[0][2], raw_bytes(std::vector<int64_t>{5, 6})) << "the next record";
    }
    const std::string path = dir.write("first.tfrecord", record(bad.bytes));
    expect_error(open_source("tfrecord:" + path + "?records=example", test_context()), Code::kCorrupt,
                 {bad.part});
  }
}

TEST(BadTfRecordFiles, KeysThatMakeNoSenseNameTheirColumn) {
  struct BadKeys {
    std::string keys;
    int64_t column;  // from the '?' on, 1-based
    std::string part;
  };
  const std::vector<BadKeys> table = {
      {"?records=proto", 10, "auto or example or bytes"},
      {"?crc=no", 6, "check or ignore"},
      {"?partial=skip", 10, "error or ignore"},
      {"?records=bytes&fields=a:i64", 16, "fields is for records=example"},
      {"?records=bytes&nulls=error", 16, "nulls is for records=example"},
      {"?fields=", 9, "NAME:TYPE"},
      {"?fields=a:i64,", 15, "NAME:TYPE"},
      {"?fields=:i64", 9, "NAME:TYPE"},
      {"?fields=a:", 9, "NAME:TYPE"},
      {"?fields=a:i32", 9, "NAME:TYPE"},
      {"?fields=a:u8", 9, "NAME:TYPE"},
      {"?fields=a:u8[]", 9, "NAME:TYPE"},
      {"?fields=a:bytes[3]", 9, "NAME:TYPE"},
      {"?fields=a:i64[", 9, "NAME:TYPE"},
      {"?fields=a:i64[3", 9, "NAME:TYPE"},
      {"?fields=a:i64[x]", 9, "NAME:TYPE"},
      {"?fields=a:i64[-1]", 9, "NAME:TYPE"},
      {"?fields=a:i64[0]", 9, "holds no values"},
      {"?fields=a:i64[4611686018427387904]", 9, "more than"},
      {"?fields=a:f32[99999999999x99999999999]", 9, "more than"},
      {"?fields=a:i64,a:f32", 15, "'a' appears twice"},
      {"?fields=%0A:i64", 9, "NAME:TYPE"},
      {"?nulls=masks", 8, "error, fill(NUMBER) or mask"},
      {"?nulls=fill", 8, "error, fill(NUMBER) or mask"},
      {"?nulls=fill()", 8, "error, fill(NUMBER) or mask"},
      {"?nulls=fill(x)", 8, "error, fill(NUMBER) or mask"},
      {"?nulls=fill(1.5)", 8, "'id' is i64[2], which cannot hold 1.5"},
      {"?fields=t:u8[3]&nulls=fill(256)", 23, "which cannot hold 256"},
      {"?feilds=a", 2, "did you mean 'fields'?"},
  };
  TempDir dir;
  const std::string uri = "tfrecord:" + dir.write("a.tfrecord", kGood);
  for (const BadKeys& bad : table) {
    SCOPED_TRACE(bad.keys);
    const Result<SourceRef> source = open_source(uri + bad.keys, test_context());
    expect_error(source, Code::kBadUri, {bad.part});
    if (!source.is_ok()) {
      EXPECT_EQ(source.status().column(), static_cast<int64_t>(uri.size()) + bad.column);
    }
  }
}

}  // namespace
}  // namespace dataline::tfrecord_test
