// Parquet files that are written hold the rows, by the description of the format: a reader of our own that knows nothing of the writer.
// What other readers make of them is tested in bindings/python/tests/test_parquet_written.py.
// SPDX-License-Identifier: Apache-2.0
#include <limits>

#include "tests/write/parquet_reader.h"
#include "tests/write/sets.h"

namespace dataline::tests::parquet_test {
namespace {

class ParquetSets : public Sets {
 protected:
  // Writes all rows, `step` at an append, and returns the only shard.
  std::string shard(const std::string& name, const Columns& columns, int64_t rows, int64_t step) const {
    TestWriter writer("parquet:" + path(name), columns);
    EXPECT_EQ(writer.made.status, DL_OK) << writer.made.error.message;
    if (writer.writer == nullptr) return "";
    for (int64_t at = 0; at < rows; at += step) {
      const Written done = writer.append(columns, at, std::min(step, rows - at));
      EXPECT_EQ(done.status, DL_OK) << done.error.message;
    }
    EXPECT_EQ(writer.finish().status, DL_OK);
    return read_whole(path(name) + "/part-00000.parquet");
  }
};

// Values as they are stored: 8 and 16 bits in 32.
template <typename Wide, typename Narrow>
std::string widened(const std::string& bytes) {
  std::string out;
  for (size_t at = 0; at < bytes.size(); at += sizeof(Narrow)) {
    Narrow narrow = 0;
    std::memcpy(&narrow, bytes.data() + at, sizeof narrow);
    const auto wide = static_cast<Wide>(narrow);
    out.append(reinterpret_cast<const char*>(&wide), sizeof wide);
  }
  return out;
}

bool is_text(const Column& column) {
  return column.kind == DL_KIND_RAGGED && column.dtype == DL_DTYPE_U8 && column.shape.size() == 1;
}

std::string stored_values(const Column& column) {
  if (is_text(column)) return column.bytes;
  switch (column.dtype) {
    case DL_DTYPE_U8:
      return widened<uint32_t, uint8_t>(column.bytes);
    case DL_DTYPE_I8:
      return widened<int32_t, int8_t>(column.bytes);
    case DL_DTYPE_U16:
      return widened<uint32_t, uint16_t>(column.bytes);
    case DL_DTYPE_I16:
      return widened<int32_t, int16_t>(column.bytes);
    default:
      return column.bytes;
  }
}

// The repetition of each value of a row, by counting its place up.
std::vector<uint8_t> repetitions_of(const std::vector<int64_t>& dims) {
  std::vector<uint8_t> out;
  std::vector<int64_t> place(dims.size(), 0);
  out.push_back(0);
  for (bool more = true; more;) {
    more = false;
    for (size_t d = dims.size(); d-- > 0 && !more;) {
      if (++place[d] < dims[d]) {
        more = true;
        out.push_back(static_cast<uint8_t>(d + 1));
      } else {
        place[d] = 0;
      }
    }
  }
  return out;
}

// `tensor`: its dims are one list.
void expect_column(const ParquetColumn& got, const Column& written, bool tensor) {
  const std::string& name = written.name;
  EXPECT_EQ((got.above.empty() ? got.leaf : got.above[0]).at(4).text, name);
  EXPECT_TRUE(got.values == stored_values(written)) << name;
  for (size_t r = 0; r < got.row_values.size(); ++r) {
    std::vector<int64_t> dims = written.shape;
    if (written.kind == DL_KIND_RAGGED) dims[0] = written.offsets[r + 1] - written.offsets[r];
    if (is_text(written)) {
      EXPECT_EQ(got.text_lengths[r], dims[0]) << name << " " << r;
      continue;
    }
    int64_t count = 1;
    for (const int64_t dim : dims) count *= dim;
    EXPECT_EQ(got.row_values[r], count) << name << " " << r;
    if (tensor) dims = {count};
    EXPECT_EQ(got.repetitions[r], count == 0 ? std::vector<uint8_t>{0} : repetitions_of(dims))
        << name << " " << r;
  }
}

const Columns kEveryKind = {
    dense("bool", DL_DTYPE_BOOL, {}, std::vector<uint8_t>{1, 0, 0, 1, 1}),
    dense("flags", DL_DTYPE_BOOL, {3}, std::vector<uint8_t>{1, 0, 0, 1, 1, 1, 0, 1, 0, 0, 0, 1, 1, 1, 1}),
    dense("u8", DL_DTYPE_U8, {2, 3}, counting<uint8_t>(30)),
    dense("pixels", DL_DTYPE_U8, {2, 2, 3}, counting<uint8_t>(60), "HWC"),
    dense("u16", DL_DTYPE_U16, {}, std::vector<uint16_t>{0, 65535, 2, 3, 4}),
    dense("u32", DL_DTYPE_U32, {}, std::vector<uint32_t>{0, UINT32_MAX, 2, 3, 4}),
    dense("u64", DL_DTYPE_U64, {}, std::vector<uint64_t>{0, 1, UINT64_MAX, 3, 4}),
    dense("i8", DL_DTYPE_I8, {}, std::vector<int8_t>{-128, -1, 0, 1, 127}),
    dense("i16", DL_DTYPE_I16, {1}, std::vector<int16_t>{-32768, 4, -3, 2, 1}),
    dense("i32", DL_DTYPE_I32, {}, std::vector<int32_t>{-5, 4, 3, 2, INT32_MIN}),
    dense("i64", DL_DTYPE_I64, {}, std::vector<int64_t>{-5, 4, 3, 2, INT64_MIN}),
    dense("f16", DL_DTYPE_F16, {2}, counting<uint16_t>(10)),
    dense("f32", DL_DTYPE_F32, {2, 1, 2}, counting<float>(20)),
    dense("cube", DL_DTYPE_F32, {2, 3, 2, 2}, counting<float>(120)),
    dense("deep", DL_DTYPE_I16, {2, 1, 2, 1, 2, 1, 1, 2, 3}, counting<int16_t>(240)),
    dense("f64", DL_DTYPE_F64, {},
          std::vector<double>{std::numeric_limits<double>::quiet_NaN(), -0.0, 1e308, -1e-308, 4}),
    texts("text", {"", "one", std::string("\0\xFF", 2), "drei", ""}),
    ragged("tokens", DL_DTYPE_I32, {2, 0, 1, 3, 0}, counting<int32_t>(6)),
    ragged("small", DL_DTYPE_I8, {0, 0, 19, 1, 0}, counting<int8_t>(20)),
    ragged("boxes", DL_DTYPE_F32, {1, 2, 0, 0, 1}, counting<float>(16), {2, 2}),
    ragged("pairs", DL_DTYPE_U8, {1, 2, 0, 5, 1}, counting<uint8_t>(18), {2}),
    ragged("marks", DL_DTYPE_BOOL, {1, 3, 0, 2, 1}, std::vector<uint8_t>{1, 0, 1, 1, 0, 0, 1})};

TEST_F(ParquetSets, HoldEveryKindOfFieldAsTheFormatSays) {
  for (const int64_t step : {1, 2, 5}) {
    const std::string bytes = shard("set" + std::to_string(step), kEveryKind, 5, step);
    const ParquetReader file(bytes);
    ASSERT_EQ(file.columns.size(), kEveryKind.size());
    EXPECT_EQ(file.footer.num(1), 1);
    EXPECT_EQ(file.footer.num(3), 5);
    for (size_t c = 0; c < kEveryKind.size(); ++c)
      expect_column(file.columns[c], kEveryKind[c], !kEveryKind[c].axes.empty());
  }
}

TEST_F(ParquetSets, AreTheSameBytesHoweverManyRowsAreAppendedAtOnce) {
  const std::string one = shard("one", kEveryKind, 5, 1);
  EXPECT_TRUE(shard("two", kEveryKind, 5, 2) == one);
  EXPECT_TRUE(shard("five", kEveryKind, 5, 5) == one);
  const Columns large = {dense("x", DL_DTYPE_F64, {1000}, counting<double>(3000 * 1000))};
  const std::string many = shard("many", large, 3000, 7);
  EXPECT_TRUE(shard("whole", large, 3000, 3000) == many);
  EXPECT_EQ(ParquetReader(many).group_rows, (std::vector<int64_t>{1049, 1049, 902}));
}

TEST_F(ParquetSets, WholeNumbersSayTheirWidthAndSign) {
  const ParquetReader file(shard("set", kEveryKind, 5, 5));
  struct Case {
    const char* name;
    int64_t type, converted, bits;
    bool is_signed;
  };
  for (const Case& expected :
       {Case{"u8", 1, 11, 8, false}, Case{"u16", 1, 12, 16, false}, Case{"u32", 1, 13, 32, false},
        Case{"u64", 2, 14, 64, false}, Case{"i8", 1, 15, 8, true}, Case{"i16", 1, 16, 16, true}}) {
    for (const ParquetColumn& column : file.columns) {
      if ((column.above.empty() ? column.leaf : column.above[0]).at(4).text != expected.name) continue;
      EXPECT_EQ(column.leaf.num(1), expected.type) << expected.name;
      EXPECT_EQ(column.leaf.num(6), expected.converted) << expected.name;
      EXPECT_EQ(column.leaf.at(10).at(10).num(1), expected.bits) << expected.name;
      EXPECT_EQ(column.leaf.at(10).at(10).num(2), expected.is_signed ? 1 : 0) << expected.name;
    }
  }
  // i64 needs no word, a half and a list do.
  EXPECT_FALSE(file.columns[10].leaf.has(10));
  EXPECT_TRUE(file.columns[11].leaf.at(10).has(15));
  for (const ParquetColumn& column : file.columns) {
    const int64_t list = column.above.empty() ? 3 : column.above[0].num(6);
    EXPECT_EQ(list, 3);
  }
}

TEST_F(ParquetSets, ScalarsThatAreWholeNumbersHaveTheirRange) {
  const ParquetReader file(shard("set", kEveryKind, 5, 2));
  const std::vector<ThriftValue>& chunks = file.footer.at(4).list.at(0).at(1).list;
  const auto range = [&](const char* name) {
    for (size_t c = 0; c < kEveryKind.size(); ++c) {
      if (kEveryKind[c].name != name) continue;
      const ThriftValue& statistics = chunks[c].at(3).at(12);
      return statistics.at(6).text + statistics.at(5).text;
    }
    return std::string();
  };
  EXPECT_EQ(range("u16"), bytes_of(std::vector<uint32_t>{0, 65535}));
  EXPECT_EQ(range("u32"), bytes_of(std::vector<uint32_t>{0, UINT32_MAX}));
  EXPECT_EQ(range("u64"), bytes_of(std::vector<uint64_t>{0, UINT64_MAX}));
  EXPECT_EQ(range("i8"), bytes_of(std::vector<int32_t>{-128, 127}));
  EXPECT_EQ(range("i32"), bytes_of(std::vector<int32_t>{INT32_MIN, 4}));
  EXPECT_EQ(range("i64"), bytes_of(std::vector<int64_t>{INT64_MIN, 4}));
  for (size_t c = 0; c < kEveryKind.size(); ++c) {
    const bool ranged = chunks[c].at(3).has(12) && chunks[c].at(3).at(12).has(5);
    const bool whole = kEveryKind[c].shape.empty() && kEveryKind[c].dtype >= DL_DTYPE_U8 &&
                       kEveryKind[c].dtype <= DL_DTYPE_I64;
    EXPECT_EQ(ranged, whole) << kEveryKind[c].name;
  }
}

TEST_F(ParquetSets, NumbersOfEightBitsTakeOneByteEach) {
  const Columns columns = {
      dense("pixels", DL_DTYPE_U8, {100, 100}, std::vector<uint8_t>(100 * 10000, 7), "HW")};
  EXPECT_LT(shard("set", columns, 100, 100).size(), size_t{100 * 10000 + 4096});
}

TEST_F(ParquetSets, RowsLargerThanARowGroupAreWholeAndPagesEndWithRows) {
  const std::vector<std::string> large = {std::string(5 << 20, 'a'), "", std::string(19 << 20, 'b'), "end"};
  const Columns columns = {texts("text", large),
                           ragged("ids", DL_DTYPE_I16, {1, 1500000, 0, 2}, counting<int16_t>(1500003))};
  const ParquetReader file(shard("set", columns, 4, 4));
  EXPECT_EQ(file.group_rows, (std::vector<int64_t>{2, 1, 1}));
  expect_column(file.columns[0], columns[0], false);
  EXPECT_TRUE(file.columns[1].values == stored_values(columns[1]));
  EXPECT_EQ(file.columns[1].row_values, (std::vector<int64_t>{1, 1500000, 0, 2}));
}

TEST_F(ParquetSets, ManyRowGroupsAndPagesAreInTheirOrder) {
  std::vector<int64_t> lengths;
  int64_t items = 0;
  for (int64_t r = 0; r < 60000; ++r) items += lengths.emplace_back(r * r % 97);
  const Columns columns = {
      ragged("ids", DL_DTYPE_U64, lengths, counting<uint64_t>(static_cast<size_t>(items))),
      dense("label", DL_DTYPE_I64, {}, counting<int64_t>(60000))};
  const ParquetReader file(shard("set", columns, 60000, 1000));
  EXPECT_GT(file.group_rows.size(), 2u);
  EXPECT_GT(file.columns[0].pages, 20);
  for (size_t c = 0; c < 2; ++c) {
    EXPECT_TRUE(file.columns[c].values == columns[c].bytes);
    EXPECT_EQ(file.columns[c].row_values, c == 0 ? lengths : std::vector<int64_t>(60000, 1));
  }
}

TEST_F(ParquetSets, OneRowOfNothingIsASet) {
  const Columns columns = {texts("text", {""}), ragged("small", DL_DTYPE_I8, {0}, counting<int8_t>(0)),
                           ragged("marks", DL_DTYPE_BOOL, {0}, counting<uint8_t>(0))};
  const ParquetReader file(shard("set", columns, 1, 1));
  EXPECT_EQ(file.group_rows, std::vector<int64_t>{1});
  EXPECT_EQ(file.columns[0].text_lengths, std::vector<int64_t>{0});
  for (const size_t c : {1, 2}) EXPECT_EQ(file.columns[c].row_values, std::vector<int64_t>{0});
}

TEST_F(ParquetSets, EndWhereShardsEnd) {
  const Columns columns = {dense("x", DL_DTYPE_I64, {}, counting<int64_t>(40))};
  TestWriter writer("parquet:" + path("set") + "?shard_bytes=1", columns);
  for (int64_t at = 0; at < 40; at += 4) ASSERT_EQ(writer.append(columns, at, 4).status, DL_OK);
  ASSERT_EQ(writer.finish().status, DL_OK);
  EXPECT_EQ(writer.info().shards, 10);
  std::string all;
  for (int i = 0; i < 10; ++i)
    all +=
        ParquetReader(read_whole(path("set/part-0000") + std::to_string(i) + ".parquet")).columns[0].values;
  EXPECT_EQ(all, columns[0].bytes);
}

TEST_F(ParquetSets, RefuseWhatTheFormatDoesNotHoldByName) {
  const auto refused = [&](const Column& column) {
    const TestWriter writer("parquet:" + path("set"), {column});
    EXPECT_EQ(writer.made.status, DL_ERR_UNSUPPORTED) << column.name;
    EXPECT_FALSE(there("set") || there("set.partial"));
    return std::string(writer.made.error.message);
  };
  EXPECT_EQ(refused(dense("x", DL_DTYPE_BF16, {}, counting<uint16_t>(1))),
            "field 'x' is bf16, for which Parquet has no type; add the transform cast(f32)");
  EXPECT_EQ(refused(dense("x", DL_DTYPE_C64, {2}, counting<double>(2))),
            "field 'x' is c64, for which Parquet has no type");
  EXPECT_NE(refused(dense("x", DL_DTYPE_I32, {3, 0}, std::vector<int32_t>()))
                .find("field 'x' is i32[3x0]: its rows hold no values"),
            std::string::npos);
  EXPECT_NE(refused(dense("x", DL_DTYPE_U16, {int64_t{1} << 30}, std::vector<uint16_t>()))
                .find("field 'x' is u16[1073741824]: a row can take at most 1073741824 bytes in a Parquet "
                      "page: write arrow"),
            std::string::npos);
}

TEST_F(ParquetSets, RefuseARowThatFitsNoPageAndGoOn) {
  Columns columns = {texts("text", {"a", "b", "c"})};
  TestWriter writer("parquet:" + path("set"), columns);
  EXPECT_EQ(writer.append(columns, 0, 1).status, DL_OK);
  Columns huge = columns;
  huge[0].offsets[2] = (int64_t{1} << 30) - 2;  // nothing is read of a row that is refused
  huge[0].offsets[3] = huge[0].offsets[2] + 1;
  const Written out = writer.append(huge, 0, 3);
  EXPECT_EQ(out.status, DL_ERR_TOO_LARGE);
  EXPECT_STREQ(out.error.message,
               "row 1: field 'text' takes 1073741825 bytes in a Parquet page, expected at most 1073741824: "
               "write arrow");
  EXPECT_EQ(writer.append(columns, 1, 2).status, DL_OK);
  ASSERT_EQ(writer.finish().status, DL_OK);
  const std::string bytes = read_whole(path("set/part-00000.parquet"));
  EXPECT_EQ(ParquetReader(bytes).columns[0].values, "abc");
}

}  // namespace
}  // namespace dataline::tests::parquet_test
