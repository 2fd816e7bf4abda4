// Casts between all pairs of dtypes, on every vector target, against the plain twin.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/transform/support/runner.h"
#include "tests/transform/support/twin.h"

namespace dataline::tests::cast_test {
namespace {

class CastPairs : public ::testing::TestWithParam<DType> {};

bool can_cast(DType from, DType to) { return is_complex(to) || !is_complex(from); }

TEST_P(CastPairs, EqualTheTwinOnEveryTargetAtEverySize) {
  const DType from = GetParam();
  for (DType to : kAllDtypes) {
    if (!can_cast(from, to)) continue;
    const std::string text = concat("cast(", dtype_name(to), ")");
    for (int64_t size : {1, 2, 3, 7, 8, 15, 16, 17, 31, 33, 63, 64, 65, 127, 200, 1025, 4099}) {
      const Tensor in =
          random_tensor(from, {size}, "", static_cast<uint64_t>(size) * 31 + static_cast<uint64_t>(to));
      const Tensor expected = settled(twin_cast(in, to));
      for (SimdTarget target : simd_targets()) {
        RunSetup setup;
        setup.target = target;
        setup.misalignment = size % 7;
        setup.source_offset = size % 3;
        EXPECT_EQ(difference(expected, transform_one(text, in, setup)), "")
            << dtype_name(from) << " to " << dtype_name(to) << ", " << size << " elements, "
            << simd_target_name(target);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(AllDtypes, CastPairs, ::testing::ValuesIn(kAllDtypes),
                         [](const auto& tested) { return std::string(dtype_name(tested.param)); });

Tensor all_bit_patterns(DType dtype) {
  Tensor out = empty_tensor(dtype, {65536}, "");
  for (uint32_t i = 0; i < 65536; ++i) {
    const auto bits = static_cast<uint16_t>(i);
    std::memcpy(out.at(i), &bits, sizeof bits);
  }
  return out;
}

TEST(Cast, EveryValueOfTheSixteenBitTypesEqualsTheTwin) {
  for (DType from : {DType::kF16, DType::kBf16, DType::kU16, DType::kI16}) {
    const Tensor in = all_bit_patterns(from);
    for (DType to : kAllDtypes) {
      const Tensor expected = twin_cast(in, to);
      for (SimdTarget target : simd_targets()) {
        RunSetup setup;
        setup.target = target;
        EXPECT_EQ(difference(expected, transform_one(concat("cast(", dtype_name(to), ")"), in, setup)), "")
            << dtype_name(from) << " to " << dtype_name(to) << ", " << simd_target_name(target);
      }
    }
  }
}

// Both sides of every point where rounding to f16 and bf16 turns, in f32 and f64.
TEST(Cast, RoundingPointsOfSmallFloatsEqualTheTwin) {
  for (DType small : {DType::kF16, DType::kBf16}) {
    const Tensor points = twin_cast(all_bit_patterns(small), DType::kF64);
    Tensor near = empty_tensor(DType::kF64, {65536 * 3}, "");
    for (int64_t i = 0; i < 65536; ++i) {
      double value, next;
      std::memcpy(&value, points.at(i), 8);
      std::memcpy(&next, points.at((i + 1) % 65536), 8);
      const double middle = value / 2 + next / 2;
      const double around[] = {middle, std::nextafter(middle, value), std::nextafter(middle, next)};
      std::memcpy(near.at(3 * i), around, sizeof around);
    }
    const std::string text = concat("cast(", dtype_name(small), ")");
    const Tensor near_f32 = twin_cast(near, DType::kF32);
    for (SimdTarget target : simd_targets()) {
      RunSetup setup;
      setup.target = target;
      EXPECT_EQ(difference(twin_cast(near, small), transform_one(text, near, setup)), "")
          << simd_target_name(target);
      EXPECT_EQ(difference(twin_cast(near_f32, small), transform_one(text, near_f32, setup)), "")
          << simd_target_name(target);
    }
  }
}

template <typename T>
Tensor tensor_of(DType dtype, std::vector<T> values) {
  Tensor out = empty_tensor(dtype, {static_cast<int64_t>(values.size())}, "");
  std::memcpy(out.bytes.data(), values.data(), out.bytes.size());
  return out;
}

// Written out by hand, so that the twin is checked too.
TEST(Cast, KnownValues) {
  const float nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();
  const auto floats = tensor_of<float>(DType::kF32, {1.9f, -1.9f, 255.9f, 256, -0.5f, nan, inf, -inf, 3e9f});
  const auto cast = [](const Tensor& in, std::string_view to) {
    return transform_one(concat("cast(", to, ")"), in);
  };
  EXPECT_EQ(cast(floats, "u8").bytes,
            tensor_of<uint8_t>(DType::kU8, {1, 0, 255, 255, 0, 0, 255, 0, 255}).bytes);
  EXPECT_EQ(cast(floats, "i8").bytes,
            tensor_of<int8_t>(DType::kI8, {1, -1, 127, 127, 0, 0, 127, -128, 127}).bytes);
  EXPECT_EQ(cast(floats, "i32").bytes,
            tensor_of<int32_t>(DType::kI32, {1, -1, 255, 256, 0, 0, 2147483647, -2147483647 - 1, 2147483647})
                .bytes);
  EXPECT_EQ(cast(floats, "bool").bytes, tensor_of<uint8_t>(DType::kBool, {1, 1, 1, 1, 1, 1, 1, 1, 1}).bytes);
  EXPECT_EQ(cast(tensor_of<int32_t>(DType::kI32, {-5, 300, 70000}), "u8").bytes,
            tensor_of<uint8_t>(DType::kU8, {0, 255, 255}).bytes);
  EXPECT_EQ(cast(tensor_of<uint64_t>(DType::kU64, {~0ull, 1ull << 63, 5}), "i64").bytes,
            tensor_of<int64_t>(DType::kI64, {INT64_MAX, INT64_MAX, 5}).bytes);
  // 16777217 is between two f32; 65520 is the first that f16 rounds to infinity; 2^-24 is its smallest.
  EXPECT_EQ(cast(tensor_of<int32_t>(DType::kI32, {16777217, 16777219}), "f32").bytes,
            tensor_of<float>(DType::kF32, {16777216, 16777220}).bytes);
  EXPECT_EQ(cast(tensor_of<float>(DType::kF32, {65519.996f, 65520, 0x1p-24f, 0x1p-25f, 0x1.8p-25f, 1}), "f16")
                .bytes,
            tensor_of<uint16_t>(DType::kF16, {0x7bff, 0x7c00, 1, 0, 1, 0x3c00}).bytes);
  EXPECT_EQ(cast(tensor_of<float>(DType::kF32, {1, 1.00390625f, 1.01171875f, 3.4e38f, -inf}), "bf16").bytes,
            tensor_of<uint16_t>(DType::kBf16, {0x3f80, 0x3f80, 0x3f82, 0x7f80, 0xff80}).bytes);
  // One rounding: through f32 this would be a tie and go up to 0x3f81.
  EXPECT_EQ(cast(tensor_of<double>(DType::kF64, {1.00390625 - 0x1p-40, 1.00390625 + 0x1p-40}), "bf16").bytes,
            tensor_of<uint16_t>(DType::kBf16, {0x3f80, 0x3f81}).bytes);
  EXPECT_EQ(cast(tensor_of<int64_t>(DType::kI64, {(1ll << 62) + (1ll << 54) + 1, (1ll << 62) + (1ll << 54)}),
                 "bf16")
                .bytes,
            tensor_of<uint16_t>(DType::kBf16, {0x5e81, 0x5e80}).bytes);
  EXPECT_EQ(cast(tensor_of<float>(DType::kF32, {1.5f}), "c128").bytes,
            tensor_of<double>(DType::kF64, {1.5, 0}).bytes);
}

TEST(Cast, ToTheSameTypeIsACopyButForStoredBools) {
  for (DType dtype : kAllDtypes) {
    const Tensor in = random_tensor(dtype, {5, 3}, "", 9);
    const RunResult result =
        run_transform(concat("cast(", dtype_name(dtype), ")"), in.field("data"), {in.bytes});
    EXPECT_EQ(result.identity, dtype != DType::kBool) << dtype_name(dtype);
    EXPECT_EQ(result.rows[0], settled(in).bytes) << dtype_name(dtype);
  }
}

TEST(Cast, ChainsRoundOnceForEachStep) {
  for (SimdTarget target : simd_targets()) {
    RunSetup setup;
    setup.target = target;
    const Tensor in = random_tensor(DType::kF64, {3000}, "", 77);
    const Tensor expected =
        twin_cast(twin_cast(twin_cast(twin_cast(in, DType::kF16), DType::kI32), DType::kU8), DType::kF64);
    EXPECT_EQ(difference(expected, transform_one("cast(f16), cast(i32), cast(u8), cast(f64)", in, setup)),
              "");
  }
}

}  // namespace
}  // namespace dataline::tests::cast_test
