// Files that do not fit the records they are said to hold, and records that cannot be.
// SPDX-License-Identifier: Apache-2.0
#include <sys/stat.h>

#include <limits>

#include "core/source/open.h"
#include "tests/source/bad_files/bad_file_table.h"

namespace dataline::raw_test {
namespace {

const std::string kMost = std::to_string(std::numeric_limits<int64_t>::max());
// A record of 3,073 bytes: a label and an image.
const std::string kLabelled = "fields=label:u8,image:u8[3x32x32]";

Result<SourceRef> open_labelled(const std::string& path, const OpenContext& context) {
  return open_source("raw:" + path + "?" + kLabelled, context);
}

struct BadRaw {
  std::string name;
  std::string keys;
  int64_t file_bytes;
  Code code;
  std::vector<std::string> parts;
};

// As check_bad_files(), with keys of its own for each file.
void check_bad_raw(const std::vector<BadRaw>& table) {
  TempDir dir;
  PeakGrowth growth;
  for (const BadRaw& bad : table) {
    SCOPED_TRACE(bad.name);
    BadFile file{bad.name, "", bad.code, bad.parts};
    std::string path = dir.write("sparse.bin", "");
    ASSERT_EQ(::truncate(path.c_str(), bad.file_bytes), 0);
    expect_refused(file, path, [&](const std::string& name, const OpenContext& context) {
      return open_source("raw:" + name + "?" + bad.keys, context);
    });
  }
  EXPECT_LT(growth.bytes(), kMostGrowthBytes);
  ::testing::Test::RecordProperty("cases", static_cast<int>(table.size()));
}

TEST(RawBadFiles, FilesThatDoNotFitTheirRecords) {
  check_bad_raw(
      {{"one byte of a record",
        kLabelled,
        1,
        Code::kTruncated,
        {"offset 0: last record has 1 bytes, expected 3073", "partial=ignore"}},
       {"a record less one byte",
        kLabelled,
        3072,
        Code::kTruncated,
        {"offset 0: last record has 3072 bytes"}},
       {"a record and one byte", kLabelled, 3074, Code::kTruncated, {"offset 3073: last record has 1 bytes"}},
       {"two records less one byte",
        kLabelled,
        6145,
        Code::kTruncated,
        {"offset 3073: last record has 3072 bytes, expected 3073"}},
       {"CIFAR-100 read as CIFAR-10",
        kLabelled,
        3074 * 10,
        Code::kTruncated,
        {"offset 30730: last record has 10 bytes"}},
       {"a header longer than the file",
        kLabelled + "&header=100",
        99,
        Code::kTruncated,
        {"offset 0: header=100 needs 100 bytes, the file has 99"}},
       {"a header and nothing to skip",
        kLabelled + "&header=1",
        0,
        Code::kTruncated,
        {"header=1 needs 1 bytes, the file has 0"}},
       {"a header of 2^63 - 1",
        "dtype=u8&header=" + kMost,
        4096,
        Code::kTruncated,
        {"header=9223372036854775807", "file has 4096"}},
       {"a header and one byte",
        kLabelled + "&header=16",
        17,
        Code::kTruncated,
        {"offset 16: last record has 1 bytes"}},
       {"a header that cuts the first record",
        kLabelled + "&header=1",
        3073,
        Code::kTruncated,
        {"offset 1: last record has 3072 bytes"}},
       {"a header, a record and a byte",
        kLabelled + "&header=16",
        16 + 3074,
        Code::kTruncated,
        {"offset 3089: last record has 1 bytes"}},
       {"f64 in 7 bytes",
        "dtype=f64",
        7,
        Code::kTruncated,
        {"offset 0: last record has 7 bytes, expected 8"}},
       {"f64 in 9 bytes",
        "dtype=f64",
        9,
        Code::kTruncated,
        {"offset 8: last record has 1 bytes, expected 8"}},
       {"a record of 2^62",
        concat("dtype=u8&shape=", int64_t{1} << 62),
        4096,
        Code::kTruncated,
        {"last record has 4096 bytes, expected 4611686018427387904"}},
       {"a record of 2^63 - 1",
        "dtype=u8&shape=" + kMost,
        1,
        Code::kTruncated,
        {"last record has 1 bytes, expected 9223372036854775807"}},
       {"a file of 2^40 and a byte",
        kLabelled,
        3073 * int64_t{357868992} + 1,
        Code::kTruncated,
        {"last record has 1 bytes"}}});
}

// Refused by the keys alone, before any file is looked at.
TEST(RawBadFiles, RecordsThatCannotBe) {
  struct BadKeys {
    std::string name, keys, part;
  };
  auto repeated = [](const std::string& dim, int count) {
    std::string out = dim;
    for (int i = 1; i < count; ++i) out += "x" + dim;
    return out;
  };
  const BadKeys table[] = {
      {"no fields", "header=0", "raw needs dtype= (and shape=), or fields="},
      {"a field of 0 bytes", "dtype=u8&shape=0", "'0': holds no bytes"},
      {"a dim of 0 among others", "dtype=f32&shape=3x0x5", "'3x0x5': holds no bytes"},
      {"a field of 0 bytes among others", "fields=a:u8,b:u8[0]", "'b:u8[0]': holds no bytes"},
      {"0 times too much", "dtype=u8&shape=" + kMost + "x" + kMost + "x0", "more than 2^63 - 1 bytes"},
      {"a negative dim", "dtype=u8&shape=-4", "expected dims as in 3x32x32"},
      {"two negative dims", "dtype=u8&shape=-2x-2", "expected dims as in 3x32x32"},
      {"2^63 bytes", concat("dtype=u64&shape=", int64_t{1} << 60), "more than 2^63 - 1 bytes"},
      {"2^63 - 1 elements of 2 bytes", "dtype=u16&shape=" + kMost, "more than 2^63 - 1 bytes"},
      {"a product of 2^64", "dtype=u8&shape=4294967296x4294967296", "more than 2^63 - 1 bytes"},
      {"a product that wraps to 4", concat("dtype=u8&shape=4x", (int64_t{1} << 62) + 1),
       "more than 2^63 - 1 bytes"},
      {"c128 that wraps", concat("dtype=c128&shape=", int64_t{1} << 59), "more than 2^63 - 1 bytes"},
      {"32 dims of 2^31", "dtype=u8&shape=" + repeated("2147483648", 32), "more than 2^63 - 1 bytes"},
      {"33 dims", "dtype=u8&shape=" + repeated("1", 33), "33 dims, at most 32"},
      {"the same name twice", "fields=label:u8,image:u8[2x2],label:u8", "field 'label' appears twice"},
      {"no name", "fields=:u8[4]", "expected name:dtype"},
      {"ragged", "fields=a:u8[-1]", "expected name:dtype"},
      {"a negative header", "dtype=u8&header=-1", "at least 0"},
      {"the least header", concat("dtype=u8&header=", std::numeric_limits<int64_t>::min()), "at least 0"}};
  PeakGrowth growth;
  for (const BadKeys& bad : table) {
    SCOPED_TRACE(bad.name);
    expect_error(open_source("raw:nothing?" + bad.keys, test_context()), Code::kBadUri, {bad.part});
  }
  EXPECT_LT(growth.bytes(), kMostGrowthBytes);
  ::testing::Test::RecordProperty("cases", static_cast<int>(std::size(table)));
}

TEST(RawBadFiles, FieldsThatTogetherWrap) {
  TempDir dir;
  const std::string path = dir.write("a", "abcd");
  expect_error(open_source("raw:" + path + "?fields=huge:u8[" + kMost + "],label:u8", test_context()),
               Code::kBadUri, {path, "raw records have more than 2^63 bytes"});
}

TEST(RawBadFiles, WhatIsNotAFile) {
  TempDir dir;
  std::filesystem::create_symlink("gone", dir.path("dangling"));
  std::filesystem::create_symlink("loop", dir.path("loop"));
  ASSERT_EQ(::mkfifo(dir.path("fifo").c_str(), 0600), 0);
  expect_refused({"missing", "", Code::kNotFound, {"no such file"}}, dir.path("nothing"), open_labelled);
  expect_refused({"dangling link", "", Code::kNotFound, {"no such file"}}, dir.path("dangling"),
                 open_labelled);
  expect_refused({"link loop", "", Code::kNotFound, {"links"}}, dir.path("loop"), open_labelled);
  expect_refused({"FIFO", "", Code::kNotAFile, {"a FIFO"}}, dir.path("fifo"), open_labelled);
  expect_refused({"device", "", Code::kNotAFile, {"a character device"}}, "/dev/zero", open_labelled);
}

}  // namespace
}  // namespace dataline::raw_test
