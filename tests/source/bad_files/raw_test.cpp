// Files that do not fit the records they are said to hold, and records that cannot be.
// SPDX-License-Identifier: Apache-2.0
#include "core/source/raw/raw.h"

#include <sys/stat.h>

#include "tests/source/bad_files/bad_file_table.h"

namespace dataline {
namespace {

constexpr int64_t kMost = std::numeric_limits<int64_t>::max();

Field field_of(std::string name, DType dtype, std::vector<int64_t> shape) {
  return {std::move(name), FieldKind::kDense, dtype, std::move(shape), "", -1};
}

RawOptions options_of(std::vector<Field> fields, int64_t header_bytes = 0) {
  return {std::move(fields), header_bytes, false};
}

// A record of 3,073 bytes: a label and an image.
RawOptions labelled(int64_t header_bytes = 0) {
  return options_of({field_of("label", DType::kU8, {}), field_of("image", DType::kU8, {3, 32, 32})},
                    header_bytes);
}

struct BadRaw {
  std::string name;
  RawOptions options;
  int64_t file_bytes;
  Code code;
  std::vector<std::string> parts;
};

// As check_bad_files(), with options of its own for each file.
void check_bad_raw(const std::vector<BadRaw>& table) {
  TempDir dir;
  PeakGrowth growth;
  for (const BadRaw& bad : table) {
    SCOPED_TRACE(bad.name);
    BadFile file{bad.name, "", bad.code, bad.parts};
    std::string path = dir.write("sparse.bin", "");
    ASSERT_EQ(::truncate(path.c_str(), bad.file_bytes), 0);
    expect_refused(file, path, [&](const std::string& name, const OpenContext& context) {
      return open_raw(name, bad.options, context);
    });
  }
  EXPECT_LT(growth.bytes(), kMostGrowthBytes);
  ::testing::Test::RecordProperty("cases", static_cast<int>(table.size()));
}

TEST(RawBadFiles, FilesThatDoNotFitTheirRecords) {
  RawOptions one = options_of({field_of("data", DType::kU8, {1})});
  RawOptions f64 = options_of({field_of("data", DType::kF64, {})});
  RawOptions huge = options_of({field_of("data", DType::kU8, {int64_t{1} << 62})});
  RawOptions most = options_of({field_of("data", DType::kU8, {kMost})});
  RawOptions header_only = one;
  header_only.header_bytes = kMost;
  check_bad_raw(
      {{"one byte of a record",
        labelled(),
        1,
        Code::kTruncated,
        {"offset 0: last record has 1 bytes, expected 3073", "partial=ignore"}},
       {"a record less one byte",
        labelled(),
        3072,
        Code::kTruncated,
        {"offset 0: last record has 3072 bytes"}},
       {"a record and one byte",
        labelled(),
        3074,
        Code::kTruncated,
        {"offset 3073: last record has 1 bytes"}},
       {"two records less one byte",
        labelled(),
        6145,
        Code::kTruncated,
        {"offset 3073: last record has 3072 bytes, expected 3073"}},
       {"CIFAR-100 read as CIFAR-10",
        labelled(),
        3074 * 10,
        Code::kTruncated,
        {"offset 30730: last record has 10 bytes"}},
       {"a header longer than the file",
        labelled(100),
        99,
        Code::kTruncated,
        {"offset 0: header=100 needs 100 bytes, file has 99"}},
       {"a header and nothing to skip",
        labelled(1),
        0,
        Code::kTruncated,
        {"header=1 needs 1 bytes, file has 0"}},
       {"a header of 2^63 - 1",
        header_only,
        4096,
        Code::kTruncated,
        {"header=9223372036854775807", "file has 4096"}},
       {"a header and one byte", labelled(16), 17, Code::kTruncated, {"offset 16: last record has 1 bytes"}},
       {"a header that cuts the first record",
        labelled(1),
        3073,
        Code::kTruncated,
        {"offset 1: last record has 3072 bytes"}},
       {"a header, a record and a byte",
        labelled(16),
        16 + 3074,
        Code::kTruncated,
        {"offset 3089: last record has 1 bytes"}},
       {"f64 in 7 bytes", f64, 7, Code::kTruncated, {"offset 0: last record has 7 bytes, expected 8"}},
       {"f64 in 9 bytes", f64, 9, Code::kTruncated, {"offset 8: last record has 1 bytes, expected 8"}},
       {"a record of 2^62",
        huge,
        4096,
        Code::kTruncated,
        {"last record has 4096 bytes, expected 4611686018427387904"}},
       {"a record of 2^63 - 1",
        most,
        1,
        Code::kTruncated,
        {"last record has 1 bytes, expected 9223372036854775807"}},
       {"a file of 2^40 and a byte",
        labelled(),
        3073 * int64_t{357868992} + 1,
        Code::kTruncated,
        {"last record has 1 bytes"}}});
}

TEST(RawBadFiles, RecordsThatCannotBe) {
  auto one = [](DType dtype, std::vector<int64_t> shape) {
    return options_of({field_of("data", dtype, std::move(shape))});
  };
  std::vector<int64_t> rank33(33, 1), rank32_of_2_31(32, int64_t{1} << 31);
  RawOptions ragged = one(DType::kU8, {4});
  ragged.fields[0].kind = FieldKind::kRagged;
  RawOptions nameless = one(DType::kU8, {4});
  nameless.fields[0].name.clear();
  Field image = field_of("image", DType::kU8, {2, 2}), label = field_of("label", DType::kU8, {});
  Field huge = field_of("huge", DType::kU8, {kMost});
  check_bad_raw(
      {{"no fields", options_of({}), 4, Code::kBadUri, {"raw needs dtype= and shape=, or fields="}},
       {"a field of 0 bytes",
        one(DType::kU8, {0}),
        4,
        Code::kBadUri,
        {"raw field 'data' (u8[0]) holds no bytes"}},
       {"a dim of 0 among others",
        one(DType::kF32, {3, 0, 5}),
        4,
        Code::kBadUri,
        {"(f32[3x0x5]) holds no bytes"}},
       {"0 times too much", one(DType::kU8, {kMost, kMost, 0}), 4, Code::kBadUri, {"raw field 'data'"}},
       {"a negative dim", one(DType::kU8, {-4}), 4, Code::kBadUri, {"(u8[-4])", "more than 2^63 bytes"}},
       {"two negative dims", one(DType::kU8, {-2, -2}), 4, Code::kBadUri, {"(u8[-2x-2])"}},
       {"2^63 bytes", one(DType::kU64, {int64_t{1} << 60}), 4, Code::kBadUri, {"has more than 2^63 bytes"}},
       {"2^63 - 1 elements of 2 bytes",
        one(DType::kU16, {kMost}),
        4,
        Code::kBadUri,
        {"has more than 2^63 bytes"}},
       {"a product of 2^64",
        one(DType::kU8, {int64_t{1} << 32, int64_t{1} << 32}),
        4,
        Code::kBadUri,
        {"more than 2^63"}},
       {"a product that wraps to 4",
        one(DType::kU8, {4, (int64_t{1} << 62) + 1}),
        4,
        Code::kBadUri,
        {"more than 2^63"}},
       {"c128 that wraps", one(DType::kC128, {int64_t{1} << 59}), 4, Code::kBadUri, {"more than 2^63"}},
       {"32 dims of 2^31", one(DType::kU8, rank32_of_2_31), 4, Code::kBadUri, {"more than 2^63"}},
       {"33 dims", one(DType::kU8, rank33), 4, Code::kBadUri, {"raw field 'data' has 33 dims, at most 32"}},
       {"fields that together wrap",
        options_of({huge, label}),
        4,
        Code::kBadUri,
        {"raw records have more than 2^63 bytes"}},
       {"the same name twice",
        options_of({label, image, label}),
        4,
        Code::kBadUri,
        {"raw field 'label' (u8) is named twice"}},
       {"no name", nameless, 4, Code::kBadUri, {"needs a name and a size"}},
       {"ragged", ragged, 4, Code::kBadUri, {"needs a name and a size"}},
       {"a negative header", options_of({label}, -1), 4, Code::kBadUri, {"header=-1 is negative"}},
       {"the least header",
        options_of({label}, std::numeric_limits<int64_t>::min()),
        4,
        Code::kBadUri,
        {"is negative"}}});
}

TEST(RawBadFiles, WhatIsNotAFile) {
  TempDir dir;
  std::filesystem::create_symlink("gone", dir.path("dangling"));
  std::filesystem::create_symlink("loop", dir.path("loop"));
  ASSERT_EQ(::mkfifo(dir.path("fifo").c_str(), 0600), 0);
  auto open = [](const std::string& path, const OpenContext& context) {
    return open_raw(path, labelled(), context);
  };
  expect_refused({"missing", "", Code::kNotFound, {"no such file"}}, dir.path("nothing"), open);
  expect_refused({"dangling link", "", Code::kNotFound, {"no such file"}}, dir.path("dangling"), open);
  expect_refused({"link loop", "", Code::kNotFound, {"links"}}, dir.path("loop"), open);
  expect_refused({"directory", "", Code::kNotAFile, {"a directory"}}, dir.path(), open);
  expect_refused({"FIFO", "", Code::kNotAFile, {"a FIFO"}}, dir.path("fifo"), open);
  expect_refused({"device", "", Code::kNotAFile, {"a character device"}}, "/dev/zero", open);
}

}  // namespace
}  // namespace dataline
