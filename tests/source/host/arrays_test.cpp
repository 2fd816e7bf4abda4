// Datasets in the host's memory: layouts, loans, and what is refused.
// SPDX-License-Identifier: Apache-2.0
#include "core/source/host/host.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "tests/source/source_support.h"
#include "tests/support/data_digest.h"

namespace dataline::arrays_test {
namespace {

constexpr int64_t kMost = std::numeric_limits<int64_t>::max();

ArrayField dense(std::string name, DType dtype, std::vector<int64_t> shape, const void* data,
                 std::optional<int64_t> stride = std::nullopt) {
  ArrayField array;
  array.field = {std::move(name), FieldKind::kDense, dtype, std::move(shape), "", -1};
  array.data = static_cast<const std::byte*>(data);
  array.row_stride = stride;
  return array;
}

ArrayField ragged(std::string name, DType dtype, std::vector<int64_t> shape, const void* data, int64_t items,
                  const std::vector<int64_t>& offsets) {
  ArrayField array;
  array.field = {std::move(name), FieldKind::kRagged, dtype, std::move(shape), "", -1};
  array.data = static_cast<const std::byte*>(data);
  array.item_count = items;
  array.offsets = offsets.data();
  return array;
}

void count_release(void* context) { ++*static_cast<int*>(context); }

class ArraysTest : public testing::TestWithParam<bool> {
 protected:
  Result<SourceRef> make(std::vector<ArrayField> fields, int64_t count) {
    HostOwner owner;
    if (GetParam()) owner = {&released_, count_release};
    return array_source(std::move(fields), count, owner, *memory_);
  }

  int released_ = 0;
  std::shared_ptr<HostMemory> memory_ = HostMemory::create({});
};

INSTANTIATE_TEST_SUITE_P(CopiedAndBorrowed, ArraysTest, testing::Bool(),
                         [](const auto& borrowed) { return borrowed.param ? "Borrowed" : "Copied"; });

TEST_P(ArraysTest, RowsAreDelivered) {
  std::vector<uint16_t> image(10 * 6);
  std::iota(image.begin(), image.end(), uint16_t{0});
  std::vector<int64_t> label = {9, 8, 7, 6, 5, 4, 3, 2, 1, 0};
  SourceRef source =
      make({dense("image", DType::kU16, {2, 3}, image.data()), dense("label", DType::kI64, {}, label.data())},
           10)
          .take();
  EXPECT_EQ(source->count(), 10);
  EXPECT_EQ(source->info().format, "arrays");
  Fetched rows = fetch(*source, {3, 0, 9});
  EXPECT_EQ(values_of<uint16_t>(rows.bytes[0][0]), (std::vector<uint16_t>{18, 19, 20, 21, 22, 23}));
  EXPECT_EQ(values_of<int64_t>(rows.bytes[1][2]), std::vector<int64_t>{0});
  EXPECT_EQ(source->scratch_bytes(1000), 0);
}

TEST_P(ArraysTest, AStrideLeavesGapsOrOverlaps) {
  std::vector<uint8_t> data(40);
  std::iota(data.begin(), data.end(), uint8_t{0});
  SourceRef source = make({dense("gaps", DType::kU8, {2}, data.data(), 5),
                           dense("overlap", DType::kU8, {4}, data.data(), 1)},
                          8)
                         .take();
  Fetched rows = fetch_all(*source);
  for (size_t i = 0; i < 8; ++i) {
    auto base = static_cast<uint8_t>(i);
    EXPECT_EQ(values_of<uint8_t>(rows.bytes[0][i]),
              (std::vector<uint8_t>{static_cast<uint8_t>(5 * base), static_cast<uint8_t>(5 * base + 1)}));
    EXPECT_EQ(values_of<uint8_t>(rows.bytes[1][i])[3], base + 3);
  }
}

TEST_P(ArraysTest, AStrideOfZeroRepeatsARowAndANegativeOneGoesDown) {
  const std::vector<uint16_t> data = {1, 2, 3, 4, 5, 6};
  SourceRef source = make({dense("same", DType::kU16, {2}, data.data(), 0),
                           dense("down", DType::kU16, {2}, data.data() + 4, -4),
                           dense("packed", DType::kU16, {2}, data.data())},
                          3)
                         .take();
  Fetched rows = fetch_all(*source);
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(values_of<uint16_t>(rows.bytes[0][i]), (std::vector<uint16_t>{1, 2}));
    EXPECT_EQ(values_of<uint16_t>(rows.bytes[1][i]),
              (std::vector<uint16_t>{data[4 - 2 * i], data[5 - 2 * i]}));
    EXPECT_EQ(values_of<uint16_t>(rows.bytes[2][i]), (std::vector<uint16_t>{data[2 * i], data[2 * i + 1]}));
  }
}

TEST_P(ArraysTest, RaggedSamplesHaveTheirOwnLengths) {
  std::vector<uint32_t> packed = {1, 2, 3, 4, 5, 6, 7, 8};
  std::vector<int64_t> offsets = {0, 1, 1, 4};
  SourceRef source = make({ragged("x", DType::kU32, {-1, 2}, packed.data(), 4, offsets)}, 3).take();
  EXPECT_EQ(source->schema().columns[0].row_bytes, -1);
  EXPECT_EQ(source->schema().fields[0].max_bytes, 24);
  Fetched rows = fetch_all(*source);
  EXPECT_EQ(values_of<uint32_t>(rows.bytes[0][0]), (std::vector<uint32_t>{1, 2}));
  EXPECT_EQ(rows.bytes[0][1], "");
  EXPECT_EQ(values_of<uint32_t>(rows.bytes[0][2]), (std::vector<uint32_t>{3, 4, 5, 6, 7, 8}));
  EXPECT_TRUE(rows.errors.empty());
}

TEST_P(ArraysTest, EmptySamplesAreNoFailures) {
  std::vector<int64_t> offsets = {0, 0, 0};
  SourceRef source =
      make({ragged("text", DType::kU8, {-1}, nullptr, 0, offsets), dense("none", DType::kF32, {0}, nullptr)},
           2)
          .take();
  Fetched rows = fetch_all(*source);
  EXPECT_TRUE(rows.errors.empty());
  EXPECT_EQ(rows.bytes[0], (std::vector<std::string>{"", ""}));
}

TEST_P(ArraysTest, OffsetsMayBeginInsideTheData) {
  std::vector<int64_t> offsets = {2, 3, 5};
  SourceRef source = make({ragged("text", DType::kU8, {-1}, "abcdef", 6, offsets)}, 2).take();
  EXPECT_EQ(fetch_all(*source).bytes[0], (std::vector<std::string>{"c", "de"}));
}

TEST_P(ArraysTest, TheLoanEndsOnceAndOnlyAfterTheLastReference) {
  int64_t value = 5;
  {
    SourceRef source = make({dense("x", DType::kI64, {}, &value)}, 1).take();
    SourceRef other = source;
    source.reset();
    EXPECT_EQ(released_, 0);
  }
  EXPECT_EQ(released_, GetParam() ? 1 : 0);
  EXPECT_EQ(memory_->in_use_bytes(), 0);
}

TEST_P(ArraysTest, NothingIsTakenOverByACallThatFails) {
  expect_error(make({dense("x", DType::kI64, {}, nullptr)}, 1), Code::kInvalidArgument,
               {"field 'x'", "data is null"});
  EXPECT_EQ(released_, 0);
  EXPECT_EQ(memory_->in_use_bytes(), 0);
}

struct BadArrays {
  std::string name;
  Code code;
  std::string part;
  std::vector<ArrayField> fields;
  int64_t count;
};

TEST_P(ArraysTest, WhatMakesNoSenseIsRefusedByName) {
  static constexpr uint8_t kData[64] = {};
  const std::vector<int64_t> falling = {0, 3, 2}, beyond = {0, 1, 9}, negative = {-1, 0, 1};
  auto with = [](ArrayField array, auto change) {
    change(array.field);
    return array;
  };
  ArrayField good = dense("x", DType::kU8, {2}, kData);
  std::vector<BadArrays> table = {
      {"no fields", Code::kInvalidArgument, "no fields", {}, 1},
      {"count", Code::kInvalidArgument, "-1 samples", {good}, -1},
      {"huge count", Code::kTooLarge, "samples, at most", {good}, kMost},
      {"no name", Code::kInvalidArgument, "no name", {dense("", DType::kU8, {2}, kData)}, 1},
      {"same name", Code::kInvalidArgument, "two fields are called 'x'", {good, good}, 1},
      {"dtype 0", Code::kInvalidArgument, "unknown dtype 0", {dense("x", DType{0}, {2}, kData)}, 1},
      {"dtype 16", Code::kInvalidArgument, "unknown dtype 16", {dense("x", DType{16}, {2}, kData)}, 1},
      {"kind",
       Code::kInvalidArgument,
       "unknown kind 7",
       {with(good, [](Field& f) { f.kind = FieldKind{7}; })},
       1},
      {"dim", Code::kInvalidArgument, "a dim is -1", {dense("x", DType::kU8, {3, -1}, kData)}, 1},
      {"rank",
       Code::kInvalidArgument,
       "33 dims, at most 32",
       {dense("x", DType::kU8, std::vector<int64_t>(33, 1), kData)},
       1},
      {"product",
       Code::kTooLarge,
       "2^48",
       {dense("x", DType::kU8, {int64_t{1} << 32, int64_t{1} << 32}, kData)},
       1},
      {"bytes", Code::kTooLarge, "2^48", {dense("x", DType::kC128, {int64_t{1} << 45}, kData)}, 1},
      {"rows",
       Code::kTooLarge,
       "2^63",
       {dense("x", DType::kU8, {int64_t{1} << 40}, kData)},
       int64_t{1} << 40},
      {"stride product", Code::kTooLarge, "2^63", {dense("x", DType::kU8, {2}, kData, kMost)}, 3},
      {"stride down", Code::kTooLarge, "2^63", {dense("x", DType::kU8, {2}, kData, -kMost)}, 2},
      {"stride of the lowest number",
       Code::kTooLarge,
       "2^63",
       {dense("x", DType::kU8, {2}, kData, -kMost - 1)},
       2},
      {"axes",
       Code::kInvalidArgument,
       "axes 'HW' for 1 dims",
       {with(good, [](Field& f) { f.axes = "HW"; })},
       1},
      {"ragged dim",
       Code::kInvalidArgument,
       "must be -1",
       {ragged("x", DType::kU8, {4}, kData, 3, {0, 1, 2})},
       2},
      {"ragged no dim",
       Code::kInvalidArgument,
       "must be -1",
       {ragged("x", DType::kU8, {}, kData, 3, {0, 1, 2})},
       2},
      {"ragged item",
       Code::kInvalidArgument,
       "no bytes",
       {ragged("x", DType::kU8, {-1, 0}, kData, 3, {0, 1, 2})},
       2},
      {"falling",
       Code::kOutOfRange,
       "offsets[2] is 2, expected 3 to 5",
       {ragged("x", DType::kU8, {-1}, kData, 5, falling)},
       2},
      {"beyond",
       Code::kOutOfRange,
       "offsets[2] is 9, expected 1 to 5",
       {ragged("x", DType::kU8, {-1}, kData, 5, beyond)},
       2},
      {"negative",
       Code::kOutOfRange,
       "offsets[0] is -1",
       {ragged("x", DType::kU8, {-1}, kData, 5, negative)},
       2},
      {"items", Code::kInvalidArgument, "-5 items", {ragged("x", DType::kU8, {-1}, kData, -5, falling)}, 2},
      {"item bytes", Code::kTooLarge, "2^63", {ragged("x", DType::kI64, {-1}, kData, kMost, falling)}, 2},
      {"ragged null",
       Code::kInvalidArgument,
       "data is null",
       {ragged("x", DType::kU8, {-1}, nullptr, 5, falling)},
       2},
  };
  ArrayField no_offsets = ragged("x", DType::kU8, {-1}, kData, 5, falling);
  no_offsets.offsets = nullptr;
  table.push_back({"no offsets", Code::kInvalidArgument, "offsets are null", {no_offsets}, 2});
  for (const BadArrays& bad : table) {
    SCOPED_TRACE(bad.name);
    expect_error(make(bad.fields, bad.count), bad.code, {"arrays: ", bad.part});
  }
  EXPECT_EQ(released_, 0);
}

TEST(Arrays, TooManyFieldsAreRefused) {
  uint8_t data = 0;
  std::vector<ArrayField> fields;
  for (int i = 0; i < 257; ++i) fields.push_back(dense(concat("f", i), DType::kU8, {}, &data));
  expect_error(array_source(fields, 1, {}, *HostMemory::create({})), Code::kInvalidArgument,
               {"257 fields, at most 256"});
}

TEST(Arrays, OffsetsChangedAfterwardsFailTheirRowsAlone) {
  std::vector<int64_t> offsets = {0, 2, 4, 6};
  int released = 0;
  SourceRef source = array_source({ragged("text", DType::kU8, {-1}, "abcdef", 6, offsets)}, 3,
                                  {&released, count_release}, *HostMemory::create({}))
                         .take();
  offsets[2] = kMost;
  Fetched rows = fetch_all(*source);
  EXPECT_EQ(rows.bytes[0][0], "ab");
  ASSERT_EQ(rows.errors.size(), 2u);
  EXPECT_EQ(rows.errors.at(1).code(), Code::kOutOfRange);
  EXPECT_EQ(rows.errors.at(1).sample_index(), 1);
  EXPECT_THAT(rows.errors.at(2).message(), testing::HasSubstr("field 'text': the offsets of sample 2"));
}

TEST(Arrays, CopiesAreRefusedPastTheBudget) {
  std::vector<uint8_t> data(8 << 20);
  auto memory = HostMemory::create({}, 4 << 20);
  expect_error(array_source({dense("x", DType::kU8, {1 << 20}, data.data())}, 8, {}, *memory),
               Code::kOverBudget, {"copy of arrays"});
  EXPECT_EQ(memory->in_use_bytes(), 0);
}

TEST(Arrays, IdentitiesTellSchemasCountsAndValuesApart) {
  auto memory = HostMemory::create({});
  uint8_t data[64] = {};
  auto print = [&](ArrayField field, int64_t count) {
    return data_digest(*array_source({std::move(field)}, count, {}, *memory).value());
  };
  uint64_t first = print(dense("x", DType::kU8, {2}, data), 3);
  EXPECT_EQ(first, print(dense("x", DType::kU8, {2}, data), 3));
  EXPECT_NE(first, print(dense("y", DType::kU8, {2}, data), 3));
  EXPECT_NE(first, print(dense("x", DType::kI8, {2}, data), 3));
  EXPECT_NE(first, print(dense("x", DType::kU8, {2, 1}, data), 3));
  EXPECT_NE(first, print(dense("x", DType::kU8, {2}, data), 4));
  data[5] = 1;
  EXPECT_NE(first, print(dense("x", DType::kU8, {2}, data), 3));
}

}  // namespace
}  // namespace dataline::arrays_test
