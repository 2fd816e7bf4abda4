// Fields without operators: rows of every size from anywhere, ragged rows, failed rows.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "core/transform/transform.h"
#include "tests/transform/support/runner.h"

namespace dataline::tests::copy_test {
namespace {

std::vector<std::vector<std::byte>> rows_of(int64_t count, int64_t bytes) {
  std::vector<std::vector<std::byte>> rows;
  for (int64_t i = 0; i < count; ++i)
    rows.push_back(random_tensor(DType::kU8, {bytes}, "", static_cast<uint64_t>(i * 131 + bytes)).bytes);
  return rows;
}

Field bytes_field(int64_t bytes) {
  Field field;
  field.name = "data";
  field.shape = {bytes};
  return field;
}

TEST(Copy, RowsOfEverySizeFromAnywhereOnEveryTarget) {
  for (int64_t bytes = 0; bytes <= 600; ++bytes) {
    const auto rows = rows_of(9, bytes);
    for (SimdTarget target : simd_targets()) {
      RunSetup setup;
      setup.target = target;
      setup.run_rows = 5;
      setup.misalignment = bytes % 13;
      setup.source_offset = bytes % 4;
      const RunResult result = run_transform("", bytes_field(bytes), rows, setup);
      EXPECT_TRUE(result.identity);
      EXPECT_EQ(result.rows, rows) << bytes << " bytes, " << simd_target_name(target);
    }
  }
}

TEST(Copy, LargeRowsOnEveryTarget) {
  for (int64_t bytes : {784, 1000, 2048, 2050, 3072, 3073, 4096, 8191, 8193, 65537, 150528}) {
    const auto rows = rows_of(4, bytes);
    for (SimdTarget target : simd_targets()) {
      for (bool contiguous : {false, true}) {
        RunSetup setup;
        setup.target = target;
        setup.misalignment = 5;
        setup.contiguous = contiguous;
        EXPECT_EQ(run_transform("", bytes_field(bytes), rows, setup).rows, rows) << bytes;
      }
    }
  }
}

TEST(Copy, AbsentRowsAreSkippedAndTheirPlacesLeftAlone) {
  for (int64_t bytes : {1, 4, 8, 13, 40, 64, 65, 200, 784, 9000}) {
    const auto rows = rows_of(20, bytes);
    for (SimdTarget target : simd_targets()) {
      RunSetup setup;
      setup.target = target;
      setup.absent = {0, 3, 4, 19};
      const RunResult result = run_transform("", bytes_field(bytes), rows, setup);
      EXPECT_EQ(result.rows[1], rows[1]);
      EXPECT_EQ(result.rows[18], rows[18]);
      EXPECT_TRUE(result.errors.empty());
    }
  }
}

TEST(Copy, AWiderStrideLeavesTheBytesBetweenRowsAlone) {
  for (int64_t bytes : {1, 7, 16, 33, 100, 784}) {
    const auto rows = rows_of(70, bytes);
    RunSetup setup;
    setup.target_stride = bytes + 24;
    setup.contiguous = true;
    EXPECT_EQ(run_transform("", bytes_field(bytes), rows, setup).rows, rows);
  }
}

// A |b1 file of another program, an array or a reader may hold any byte where true is meant.
TEST(Bools, AnyStoredByteButZeroIsOneOnEveryTarget) {
  for (int64_t bytes = 0; bytes <= 300; bytes += bytes < 70 ? 1 : 23) {
    Field field = bytes_field(bytes);
    field.dtype = DType::kBool;
    const auto rows = rows_of(9, bytes);
    auto expected = rows;
    for (auto& row : expected)
      for (std::byte& one : row) one = one != std::byte{0} ? std::byte{1} : std::byte{0};
    for (SimdTarget target : simd_targets()) {
      for (bool contiguous : {false, true}) {
        for (const char* text : {"", "flatten", "cast(bool)", "cast(u8), cast(bool)"}) {
          RunSetup setup;
          setup.target = target;
          setup.misalignment = bytes % 13;
          setup.contiguous = contiguous;
          EXPECT_EQ(run_transform(text, field, rows, setup).rows, expected)
              << bytes << " bytes, " << simd_target_name(target) << ", '" << text << "'";
        }
      }
    }
  }
}

Field ragged_field(DType dtype, std::vector<int64_t> shape) {
  Field field;
  field.name = "text";
  field.kind = FieldKind::kRagged;
  field.dtype = dtype;
  field.shape = std::move(shape);
  return field;
}

TEST(Ragged, RowsOfTheirOwnLengthsAreCopied) {
  std::vector<std::vector<std::byte>> rows;
  for (int64_t bytes : {0, 1, 17, 64, 300, 0, 512}) rows.push_back(rows_of(1, bytes)[0]);
  RunSetup setup;
  setup.target_stride = 512;
  setup.run_rows = 3;
  const RunResult result = run_transform("", ragged_field(DType::kU8, {-1}), rows, setup);
  EXPECT_EQ(result.rows, rows);
  EXPECT_EQ(result.output.kind, FieldKind::kRagged);
}

TEST(Ragged, StoredBoolsBecomeZeroOrOneAndPaddingStays) {
  const std::vector<std::byte> row = {std::byte{2}, std::byte{0}, std::byte{255}};
  const std::vector<std::byte> settled_row = {std::byte{1}, std::byte{0}, std::byte{1}};
  RunSetup setup;
  setup.target_stride = 5;
  EXPECT_EQ(run_transform("", ragged_field(DType::kBool, {-1}), {row, {}}, setup).rows,
            (std::vector<std::vector<std::byte>>{settled_row, {}}));
  std::vector<std::byte> padded = settled_row;
  padded.resize(5, std::byte{1});
  EXPECT_EQ(run_transform("pad_to(5, value=1)", ragged_field(DType::kBool, {-1}), {row}, setup).rows,
            (std::vector<std::vector<std::byte>>{padded}));
}

TEST(Ragged, ARowAboveItsShareFailsAloneNamingBothSizes) {
  const std::vector<std::vector<std::byte>> rows = {rows_of(1, 10)[0], rows_of(1, 65)[0], rows_of(1, 64)[0]};
  RunSetup setup;
  setup.target_stride = 64;
  const RunResult result = run_transform("", ragged_field(DType::kU8, {-1}), rows, setup);
  ASSERT_EQ(result.errors.size(), 1u);
  EXPECT_EQ(result.errors[0].row, 1);
  EXPECT_EQ(result.errors[0].status.code(), Code::kTooLarge);
  EXPECT_EQ(result.errors[0].status.message(),
            "field 'text': sample needs 65 bytes, max_bytes_per_sample is 64");
  EXPECT_EQ(result.rows[0], rows[0]);
  EXPECT_TRUE(result.rows[1].empty());
  EXPECT_EQ(result.rows[2], rows[2]);
}

TEST(Ragged, AbsentRowsAreLeftAlone) {
  const std::vector<std::vector<std::byte>> rows = {rows_of(1, 10)[0], rows_of(1, 20)[0]};
  for (const char* text : {"", "cast(u16)"}) {
    RunSetup setup;
    setup.target_stride = 64;
    setup.absent = {0};
    const RunResult result = run_transform(text, ragged_field(DType::kU8, {-1}), rows, setup);
    EXPECT_TRUE(result.rows[0].empty());
    EXPECT_EQ(result.rows[1].size(), *text == '\0' ? 20u : 40u);
  }
}

TEST(Ragged, ElementWorkKeepsLengthsAndScalesTheShare) {
  Field field = ragged_field(DType::kU16, {-1, 3});
  field.axes = "TC";
  field.max_bytes = 600;
  std::vector<std::vector<std::byte>> rows;
  std::vector<Tensor> inputs;
  for (int64_t length : {0, 1, 5, 100}) {
    inputs.push_back(random_tensor(DType::kU16, {length, 3}, "TC", static_cast<uint64_t>(length)));
    rows.push_back(inputs.back().bytes);
  }
  for (SimdTarget target : simd_targets()) {
    RunSetup setup;
    setup.target = target;
    setup.target_stride = 1200;
    const RunResult result = run_transform("normalize(mean=[1, 2, 3], std=[4, 5, 6])", field, rows, setup);
    EXPECT_EQ(result.output.max_bytes, 1200);
    EXPECT_EQ(result.output.shape, (std::vector<int64_t>{-1, 3}));
    for (size_t i = 0; i < rows.size(); ++i) {
      Tensor one = inputs[i];
      const Tensor alone =
          one.count() == 0 ? one : transform_one("normalize(mean=[1, 2, 3], std=[4, 5, 6])", one, setup);
      EXPECT_EQ(result.rows[i], alone.bytes);
    }
  }
}

}  // namespace
}  // namespace dataline::tests::copy_test
