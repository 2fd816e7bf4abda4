// Rows that are written come back: in each format, all kinds of fields, and what a format does not hold is refused by name.
// SPDX-License-Identifier: Apache-2.0
#include "tests/write/sets.h"

namespace dataline::tests::formats_test {
namespace {

const std::string kJpeg = "\xFF\xD8\xFF jpeg", kPng = "\x89PNG\r\n\x1A\n png";
const std::string kWebp = std::string("RIFF\0\0\0\0WEBP", 12);

// Writes all rows, `step` at an append, and returns what the set delivers.
std::vector<Delivery> through(const std::string& uri, const Columns& columns, int64_t rows, int64_t step = 2,
                              const std::string& keys = "") {
  TestWriter writer(uri, columns);
  EXPECT_EQ(writer.made.status, DL_OK) << writer.made.error.message;
  if (writer.writer == nullptr) return {};
  for (int64_t at = 0; at < rows; at += step) {
    const Written done = writer.append(columns, at, std::min(step, rows - at));
    EXPECT_EQ(done.status, DL_OK) << done.error.message;
  }
  const Written finished = writer.finish();
  EXPECT_EQ(finished.status, DL_OK) << finished.error.message;
  return deliver(uri.substr(0, uri.find('?')) + keys);
}

void expect_same(const Delivery& got, const Column& written) {
  EXPECT_EQ(got.name, written.name);
  EXPECT_EQ(got.dtype, written.dtype) << got.name;
  EXPECT_EQ(got.bytes, written.bytes) << got.name;
  if (written.kind == DL_KIND_DENSE) {
    EXPECT_EQ(got.shape, written.shape) << got.name;
    return;
  }
  std::vector<int64_t> lengths;
  for (size_t i = 1; i < written.offsets.size(); ++i)
    lengths.push_back(written.offsets[i] - written.offsets[i - 1]);
  EXPECT_EQ(got.lengths, lengths) << got.name;
}

TEST_F(Sets, ArrowHoldsEveryKindOfFieldAsItIs) {
  const Columns columns = {
      dense("bool", DL_DTYPE_BOOL, {3}, std::vector<uint8_t>{1, 0, 0, 1, 1, 1, 0, 1, 0, 0, 0, 1, 1, 1, 1}),
      dense("u8", DL_DTYPE_U8, {2, 3}, counting<uint8_t>(30)),
      dense("pixels", DL_DTYPE_U8, {2, 2, 3}, counting<uint8_t>(60), "HWC"),
      dense("u16", DL_DTYPE_U16, {}, counting<uint16_t>(5)),
      dense("u32", DL_DTYPE_U32, {}, counting<uint32_t>(5)),
      dense("u64", DL_DTYPE_U64, {}, std::vector<uint64_t>{0, 1, UINT64_MAX, 3, 4}),
      dense("i8", DL_DTYPE_I8, {}, std::vector<int8_t>{-128, -1, 0, 1, 127}),
      dense("i16", DL_DTYPE_I16, {1}, std::vector<int16_t>{-5, 4, 3, 2, 1}),
      dense("i32", DL_DTYPE_I32, {}, std::vector<int32_t>{-5, 4, 3, 2, 1}),
      dense("i64", DL_DTYPE_I64, {}, std::vector<int64_t>{-5, 4, 3, 2, INT64_MIN}),
      dense("f16", DL_DTYPE_F16, {2}, counting<uint16_t>(10)),
      dense("f32", DL_DTYPE_F32, {2, 1, 2}, counting<float>(20)),
      dense("f64", DL_DTYPE_F64, {}, counting<double>(5)),
      texts("text", {"", "one", std::string("\0\xFF", 2), "drei", ""}),
      ragged("tokens", DL_DTYPE_I32, {2, 0, 1, 3, 0}, counting<int32_t>(6)),
      ragged("boxes", DL_DTYPE_F32, {1, 2, 0, 0, 1}, counting<float>(16), {2, 2}),
      ragged("flags", DL_DTYPE_BOOL, {1, 3, 0, 2, 1}, std::vector<uint8_t>{1, 0, 1, 1, 0, 0, 1})};
  for (const char* codec : {"none", "lz4", "zstd"}) {
    for (const int64_t step : {1, 2, 5}) {
      const std::string set = "arrow:" + path(codec + std::to_string(step));
      const auto got = through(set + "?codec=" + codec, columns, 5, step);
      ASSERT_EQ(got.size(), columns.size());
      for (size_t f = 0; f < columns.size(); ++f) expect_same(got[f], columns[f]);
      EXPECT_EQ(got[2].axes, "NHWC");
    }
  }
}

TEST_F(Sets, ACodecMakesASetSmallerAndItsManifestSaysWhich) {
  const Columns columns = {texts("text", std::vector<std::string>(2000, "the same text again and again")),
                           dense("x", DL_DTYPE_F64, {}, std::vector<double>(2000, 1.5))};
  for (const std::string format : {"arrow", "parquet"}) {
    std::vector<uintmax_t> bytes;
    for (const std::string codec : {"none", "lz4", "zstd"}) {
      const std::string name = format + codec;
      TestWriter writer(format + ":" + path(name) + "?codec=" + codec, columns);
      ASSERT_EQ(writer.append(columns, 0, 2000).status, DL_OK);
      ASSERT_EQ(writer.finish().status, DL_OK);
      bytes.push_back(std::filesystem::file_size(path(name + "/part-00000." + format)));
      const bool said = read_whole(path(name + "/dataline.manifest")).find("\"codec\": \"" + codec + "\"") !=
                        std::string::npos;
      EXPECT_EQ(said, codec != "none") << name;
    }
    EXPECT_LT(bytes[1] * 2, bytes[0]) << format;
    EXPECT_LT(bytes[2] * 2, bytes[0]) << format;
  }
}

TEST_F(Sets, EveryShardSizeGivesTheSameRows) {
  const Columns columns = {dense("number", DL_DTYPE_I64, {}, counting<int64_t>(40)),
                           texts("text", std::vector<std::string>(40, "some text"))};
  for (const char* format : {"arrow", "tfrecord"}) {
    for (const char* bytes : {"1", "700", "1MiB"}) {
      const std::string name = std::string(format) + bytes;
      const auto got =
          through(std::string(format) + ":" + path(name) + "?shard_bytes=" + bytes, columns, 40, 4);
      ASSERT_EQ(got.size(), 2u) << name;
      expect_same(got[0], columns[0]);
      expect_same(got[1], columns[1]);
      EXPECT_EQ(there(name + "/part-00009." + format), std::string(bytes) == "1") << name;
    }
  }
}

TEST_F(Sets, RowsLargerThanARecordBatchAreWhole) {
  const std::vector<std::string> large = {std::string(5 << 20, 'a'), "", std::string(9 << 20, 'b'), "end"};
  const Columns columns = {texts("text", large)};
  TestWriter writer("arrow:" + path("set"), columns);
  for (int64_t r = 0; r < 4; ++r) ASSERT_EQ(writer.append(columns, r, 1).status, DL_OK);
  ASSERT_EQ(writer.finish().status, DL_OK);
  const Loader loader =
      make_loader(open_dataset("arrow:" + path("set")).dataset,
                  {{"batch_size", "1"}, {"num_workers", "0"}, {"max_bytes_per_sample", "16MiB"}});
  for (const std::string& text : large) EXPECT_TRUE(row_bytes(next(loader).batch.get(), 0) == text);
}

TEST_F(Sets, TarHoldsImagesBytesLabelsAndKeys) {
  const std::string long_key = std::string(90, 'd') + "/" + std::string(120, 'k');
  const Columns columns = {texts("image", {kJpeg, kPng, kWebp, kJpeg, kPng}),
                           dense("label", DL_DTYPE_I32, {}, std::vector<int32_t>{3, -1, 0, 7, 2000000000}),
                           texts("json", {"{}", "", "{\"a\": 1}", std::string(513, ' '), "1"}),
                           texts("key", {"a", "b/c", long_key, "a b", "z"})};
  const auto got = through("tar:" + path("set"), columns, 5, 2, "?fields=image,label,json,key");
  ASSERT_EQ(got.size(), 4u);
  for (const size_t f : {0, 2, 3}) expect_same(got[f], columns[f]);
  EXPECT_EQ(got[1].dtype, DL_DTYPE_I64);
  EXPECT_EQ(got[1].bytes, bytes_of(std::vector<int64_t>{3, -1, 0, 7, 2000000000}));
}

TEST_F(Sets, TarNumbersRowsThatHaveNoKey) {
  const Columns columns = {texts("txt", {"a", "b", "c"})};
  const auto got = through("tar:" + path("set") + "?shard_bytes=1", columns, 3, 1, "?fields=key,txt");
  ASSERT_EQ(got.size(), 2u);
  EXPECT_EQ(got[0].bytes, "000000000000000001000000002");
  EXPECT_EQ(got[1].bytes, "abc");
}

TEST_F(Sets, TfRecordHoldsBytesWholeNumbersAndFloats) {
  const Columns columns = {
      texts("text", {"one", "", "drei"}),
      dense("i64", DL_DTYPE_I64, {}, std::vector<int64_t>{-1, INT64_MIN, INT64_MAX}),
      dense("u8", DL_DTYPE_U8, {}, std::vector<uint8_t>{0, 255, 1}),
      dense("bool", DL_DTYPE_BOOL, {2}, std::vector<uint8_t>{1, 0, 0, 0, 1, 1}),
      dense("i32", DL_DTYPE_I32, {2, 2}, std::vector<int32_t>{-1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 1, 1}),
      dense("f32", DL_DTYPE_F32, {3}, counting<float>(9)),
      dense("pixels", DL_DTYPE_U8, {2, 2}, counting<uint8_t>(12)),
      ragged("tokens", DL_DTYPE_U16, {0, 2, 1}, std::vector<uint16_t>{65535, 2, 3}),
      ragged("weights", DL_DTYPE_F32, {2, 0, 1}, counting<float>(3))};
  const auto got =
      through("tfrecord:" + path("set"), columns, 3, 2,
              "?fields=text:bytes,i64:i64,u8:i64,bool:i64[2],i32:i64[2x2],f32:f32[3],pixels:u8[2x2],"
              "tokens:i64[],weights:f32[]");
  ASSERT_EQ(got.size(), columns.size());
  for (const size_t f : {0, 1, 5, 6, 8}) expect_same(got[f], columns[f]);
  EXPECT_EQ(got[2].bytes, bytes_of(std::vector<int64_t>{0, 255, 1}));
  EXPECT_EQ(got[3].bytes, bytes_of(std::vector<int64_t>{1, 0, 0, 0, 1, 1}));
  EXPECT_EQ(got[4].bytes, bytes_of(std::vector<int64_t>{-1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 1, 1}));
  EXPECT_EQ(got[7].bytes, bytes_of(std::vector<int64_t>{65535, 2, 3}));
  EXPECT_EQ(got[7].lengths, (std::vector<int64_t>{0, 2, 1}));
}

TEST_F(Sets, NpyHoldsOneDenseFieldOfAnyTypeThatNumPyHas) {
  const Columns kinds = {
      dense("x", DL_DTYPE_BOOL, {3}, std::vector<uint8_t>{1, 0, 0, 0, 1, 1, 1, 1, 1, 0, 0, 0, 1, 0, 1}),
      dense("x", DL_DTYPE_U8, {2, 1, 3}, counting<uint8_t>(30)),
      dense("x", DL_DTYPE_I8, {}, std::vector<int8_t>{-1, 2, 3, -4, 5}),
      dense("x", DL_DTYPE_U16, {}, counting<uint16_t>(5)),
      dense("x", DL_DTYPE_I64, {1}, std::vector<int64_t>{INT64_MIN, 2, 3, 4, -5}),
      dense("x", DL_DTYPE_F16, {2}, counting<uint16_t>(10)),
      dense("x", DL_DTYPE_F64, {2, 2}, counting<double>(20)),
      dense("x", DL_DTYPE_C64, {}, counting<float>(10))};
  for (size_t k = 0; k < kinds.size(); ++k) {
    for (const char* bytes : {"1", "1MiB"}) {
      const std::string name = "set" + std::to_string(k) + bytes;
      const auto got = through("npy:" + path(name) + "?shard_bytes=" + bytes, {kinds[k]}, 5, 2);
      ASSERT_EQ(got.size(), 1u);
      Column expected = kinds[k];
      expected.name = "data";
      expect_same(got[0], expected);
      EXPECT_EQ(there(name + "/part-00002.npy"), std::string(bytes) == "1");
      EXPECT_EQ(read_whole(path(name) + "/part-00000.npy").size() % 64,
                std::string(bytes) == "1" ? 2 * kinds[k].bytes.size() / 5 % 64 : kinds[k].bytes.size() % 64)
          << "data begin at a multiple of 64 bytes";
    }
  }
}

TEST_F(Sets, TokensHoldWholeNumbersOneAfterAnother) {
  const Columns documents = {ragged("ids", DL_DTYPE_U16, {3, 0, 4, 1, 5}, counting<uint16_t>(13))};
  const auto got = through("tokens:" + path("set"), documents, 5, 2, "?length=4&stride=4");
  ASSERT_EQ(got.size(), 2u);
  EXPECT_EQ(got[0].bytes, bytes_of(counting<uint16_t>(12)));
  const Columns rows = {dense("ids", DL_DTYPE_I32, {2}, counting<int32_t>(6))};
  EXPECT_EQ(through("tokens:" + path("rows"), rows, 3, 1, "?length=5&stride=5")[0].bytes,
            bytes_of(counting<int32_t>(5)));
}

TEST_F(Sets, WhatAFormatDoesNotHoldIsRefusedByNameAndNothingIsMade) {
  const auto refused = [&](const std::string& format, const Column& column) {
    TestWriter writer(format + ":" + path("set"), {column});
    EXPECT_EQ(writer.made.status, DL_ERR_UNSUPPORTED) << format << " " << column.name;
    EXPECT_FALSE(there("set") || there("set.partial")) << format << " " << column.name;
    EXPECT_NE(std::string(writer.made.error.message).find("field '" + column.name + "'"), std::string::npos)
        << writer.made.error.message;
    return std::string(writer.made.error.message);
  };
  EXPECT_NE(refused("arrow", dense("x", DL_DTYPE_BF16, {}, counting<uint16_t>(1))).find("cast(f32)"),
            std::string::npos);
  refused("arrow", dense("x", DL_DTYPE_C64, {}, counting<double>(1)));
  refused("arrow", dense("x", DL_DTYPE_U8, {int64_t{1} << 32}, counting<uint8_t>(1)));
  refused("arrow", dense("x", DL_DTYPE_U8, {-1, 3}, counting<uint8_t>(1)));
  EXPECT_NE(refused("tar", dense("x", DL_DTYPE_F32, {3}, counting<float>(3))).find("write arrow"),
            std::string::npos);
  refused("tar", ragged("ids", DL_DTYPE_I32, {1}, counting<int32_t>(1)));
  for (const char* name : {"Text", "a/b", ".x", "x.", "jpg", "cls", "a b"})
    refused("tar", texts(name, {"x"}));
  refused("tar", texts("label", {"x"}));
  EXPECT_NE(refused("tfrecord", dense("x", DL_DTYPE_F64, {}, counting<double>(1))).find("cast(f32)"),
            std::string::npos);
  refused("tfrecord", dense("x", DL_DTYPE_F16, {}, counting<uint16_t>(1)));
  refused("tfrecord", ragged("x", DL_DTYPE_I32, {1}, counting<int32_t>(2), {2}));
  EXPECT_NE(refused("npy", texts("x", {"a"})).find("write arrow"), std::string::npos);
  EXPECT_NE(refused("npy", dense("x", DL_DTYPE_BF16, {}, counting<uint16_t>(1))).find("cast(f32)"),
            std::string::npos);
  // The array has one dim more.
  refused("npy", dense("x", DL_DTYPE_U8, std::vector<int64_t>(DL_MAX_RANK - 1, 1), counting<uint8_t>(1)));
  refused("tokens", dense("x", DL_DTYPE_F32, {}, counting<float>(1)));
  refused("tokens", dense("x", DL_DTYPE_I32, {1, 1}, counting<int32_t>(1)));
  for (const char* format : {"npy", "tokens"}) {
    const Column one = dense("x", DL_DTYPE_I32, {}, counting<int32_t>(1)),
                 two = dense("y", DL_DTYPE_I32, {}, counting<int32_t>(1));
    const TestWriter writer(std::string(format) + ":" + path("set"), {one, two});
    EXPECT_EQ(writer.made.status, DL_ERR_UNSUPPORTED);
    EXPECT_NE(std::string(writer.made.error.message).find("field 'y' is the second of 2"), std::string::npos);
    const Column x = dense("x", DL_DTYPE_U16, {4}, counting<uint16_t>(4)),
                 y = dense("y", DL_DTYPE_U16, {4}, counting<uint16_t>(4));
    const TestWriter windows(std::string(format) + ":" + path("set"), {x, y});
    EXPECT_EQ(windows.made.status, DL_ERR_UNSUPPORTED);
    EXPECT_NE(std::string(windows.made.error.message).find("documents=eot:ID"), std::string::npos);
  }
}

TEST_F(Sets, ARowThatAFormatDoesNotHoldIsRefusedAndTheWriterGoesOn) {
  const Columns keyed = {texts("txt", {"a", "b", "c", "d", "e"}),
                         texts("key", {"one", "one", "a.b", "", "two"})};
  TestWriter tar("tar:" + path("tar"), keyed);
  EXPECT_EQ(tar.append(keyed, 0, 1).status, DL_OK);
  const Written twice = tar.append(keyed, 1, 1);
  EXPECT_EQ(twice.status, DL_ERR_INVALID_ARGUMENT);
  EXPECT_NE(std::string(twice.error.message).find("'one' is the same as in the previous row"),
            std::string::npos)
      << twice.error.message;
  EXPECT_EQ(tar.append(keyed, 2, 1).status, DL_ERR_INVALID_ARGUMENT);
  EXPECT_EQ(tar.append(keyed, 3, 1).status, DL_ERR_INVALID_ARGUMENT);
  EXPECT_EQ(tar.append(keyed, 4, 1).status, DL_OK);
  EXPECT_EQ(tar.append(keyed, 3, 2).status, DL_ERR_INVALID_ARGUMENT) << "the good row of the two either";
  ASSERT_EQ(tar.finish().status, DL_OK);
  EXPECT_EQ(deliver("tar:" + path("tar") + "?fields=key")[0].bytes, "onetwo");

  const Columns pictures = {texts("image", {"GIF89a", kPng})};
  TestWriter images("tar:" + path("images"), pictures);
  EXPECT_EQ(images.append(pictures, 0, 1).status, DL_ERR_INVALID_ARGUMENT);
  EXPECT_EQ(images.append(pictures, 1, 1).status, DL_OK);

  const Columns large = {dense("x", DL_DTYPE_U64, {}, std::vector<uint64_t>{1, UINT64_MAX})};
  TestWriter records("tfrecord:" + path("records"), large);
  const Written out = records.append(large, 0, 2);
  EXPECT_EQ(out.status, DL_ERR_OUT_OF_RANGE);
  EXPECT_NE(std::string(out.error.message).find("row 1: field 'x' has 18446744073709551615"),
            std::string::npos)
      << out.error.message;
}

}  // namespace
}  // namespace dataline::tests::formats_test
