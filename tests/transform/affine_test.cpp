// normalize and scale, alone and in chains, on every vector target, against the plain twin.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "core/base/text.h"
#include "tests/transform/support/runner.h"
#include "tests/transform/support/twin.h"

namespace dataline::tests::affine_test {
namespace {

const std::vector<double> kImagenetMean = {0.485, 0.456, 0.406}, kImagenetStd = {0.229, 0.224, 0.225};
const std::vector<double> kCifarMean = {0.4914, 0.4822, 0.4465}, kCifarStd = {0.2470, 0.2435, 0.2616};

void expect_on_all_targets(const std::string& text, const Tensor& in, const Tensor& expected) {
  for (SimdTarget target : simd_targets()) {
    for (int64_t misalignment : {0, 3}) {
      RunSetup setup;
      setup.target = target;
      setup.misalignment = misalignment;
      EXPECT_EQ(difference(expected, transform_one(text, in, setup)), "")
          << text << " of " << field_type_text(in.field("")) << " " << in.axes << ", "
          << simd_target_name(target);
    }
  }
}

TEST(Normalize, OneValueEqualsTheTwinForEveryTypeAndSize) {
  for (DType dtype : {DType::kU8, DType::kU16, DType::kF16, DType::kBf16, DType::kF32, DType::kF64}) {
    for (int64_t size : {1, 5, 15, 16, 17, 28 * 28, 1000, 2049}) {
      const Tensor in = random_tensor(dtype, {size}, "", static_cast<uint64_t>(size));
      expect_on_all_targets("normalize(mean=0.1307, std=0.3081)", in, twin_normalize(in, {0.1307}, {0.3081}));
      expect_on_all_targets("normalize(mnist)", in, twin_normalize(in, {0.1307}, {0.3081}));
    }
  }
}

TEST(Normalize, ValuesAChannelFollowTheAxes) {
  for (DType dtype : {DType::kU8, DType::kU16, DType::kF32, DType::kBf16, DType::kF64}) {
    for (int64_t side : {1, 2, 5, 7, 16, 33}) {
      const auto seed = static_cast<uint64_t>(side);
      const Tensor hwc = random_tensor(dtype, {side, side + 1, 3}, "HWC", seed);
      const Tensor chw = random_tensor(dtype, {3, side, side + 1}, "CHW", seed);
      expect_on_all_targets("normalize(imagenet)", hwc, twin_normalize(hwc, kImagenetMean, kImagenetStd));
      expect_on_all_targets("normalize(imagenet)", chw, twin_normalize(chw, kImagenetMean, kImagenetStd));
      expect_on_all_targets("normalize(cifar10)", chw, twin_normalize(chw, kCifarMean, kCifarStd));
    }
  }
}

TEST(Normalize, AnyCountOfChannelsAndAnyAxesWithC) {
  for (int64_t channels : {2, 4, 5, 13, 16, 17, 40, 1500}) {
    std::vector<double> mean, deviation;
    std::string mean_text, std_text;
    for (int64_t c = 0; c < channels; ++c) {
      mean.push_back(static_cast<double>(c) / 8);
      deviation.push_back(1 + static_cast<double>(c) / 4);
      mean_text += concat(c == 0 ? "" : ", ", c, " ");
      std_text += concat(c == 0 ? "" : ",", c + 1);
    }
    for (double& value : mean) value *= 8;
    for (size_t c = 0; c < deviation.size(); ++c) deviation[c] = static_cast<double>(c + 1);
    const std::string text = concat("normalize(mean=[", mean_text, "], std=[", std_text, "])");
    for (const char* axes : {"C", "TC", "CT", "TCS"}) {
      std::vector<int64_t> shape;
      for (const char* axis = axes; *axis != '\0'; ++axis)
        shape.push_back(*axis == 'C' ? channels : *axis == 'T' ? 3 : 6);
      const Tensor in = random_tensor(DType::kU8, shape, axes, 3);
      expect_on_all_targets(text, in, twin_normalize(in, mean, deviation));
    }
  }
}

TEST(Normalize, OneMeanWithAStdAChannel) {
  const Tensor in = random_tensor(DType::kU8, {9, 7, 3}, "HWC", 8);
  expect_on_all_targets("normalize(mean=0.5, std=[0.1, 0.2, 0.3])", in,
                        twin_normalize(in, {0.5}, {0.1, 0.2, 0.3}));
}

// By hand, so that the twin is checked too: 1 / (255 * 0.5) = 2/255 and -0.5 / 0.5 = -1.
TEST(Normalize, KnownValues) {
  Tensor in = empty_tensor(DType::kU8, {3}, "");
  in.bytes = {std::byte{0}, std::byte{255}, std::byte{51}};
  const Tensor out = transform_one("normalize(mean=0.5, std=0.5)", in);
  float values[3];
  std::memcpy(values, out.bytes.data(), sizeof values);
  EXPECT_EQ(values[0], -1.0f);
  EXPECT_EQ(values[1], 1.0f);
  EXPECT_EQ(std::bit_cast<uint32_t>(values[2]), 0xbf199999u);  // one unit below -0.6, as NumPy in f32
}

// Values where x * a + b rounded once differs from two roundings: found by search, so the test can tell.
TEST(Normalize, RoundsAfterTheProductAndAfterTheSum) {
  const float a = static_cast<float>(1.0 / (255 * 0.3081)), b = static_cast<float>(-0.1307 / 0.3081);
  int differing = 0;
  for (int x = 0; x < 256; ++x) {
    const float product = static_cast<float>(x) * a;
    differing += std::fma(static_cast<float>(x), a, b) != product + b ? 1 : 0;
  }
  EXPECT_GT(differing, 0);
  Tensor in = empty_tensor(DType::kU8, {256}, "");
  for (size_t x = 0; x < 256; ++x) in.bytes[x] = static_cast<std::byte>(x);
  expect_on_all_targets("normalize(mnist)", in, twin_normalize(in, {0.1307}, {0.3081}));
}

TEST(Normalize, ThenCastRoundsOnceMore) {
  for (DType to : {DType::kF16, DType::kBf16, DType::kF64, DType::kI32, DType::kU8}) {
    for (DType from : {DType::kU8, DType::kU16, DType::kF32, DType::kF16}) {
      const Tensor in = random_tensor(from, {11, 13, 3}, "HWC", 21);
      const std::string text = concat("normalize(imagenet), cast(", dtype_name(to), ")");
      expect_on_all_targets(text, in, twin_cast(twin_normalize(in, kImagenetMean, kImagenetStd), to));
    }
  }
}

TEST(Normalize, AfterCastOfOtherTypesTakesTheFloatsAsTheyAre) {
  for (DType from :
       {DType::kI8, DType::kI16, DType::kI32, DType::kI64, DType::kU32, DType::kBool, DType::kF64}) {
    const Tensor in = random_tensor(from, {3, 400}, "CT", 5);
    const Tensor expected = twin_normalize(twin_cast(in, DType::kF32), {1, 2, 3}, {4, 5, 6});
    expect_on_all_targets("cast(f32), normalize(mean=[1, 2, 3], std=[4, 5, 6])", in, expected);
  }
  const Tensor pixels = random_tensor(DType::kU8, {1000}, "", 5);
  expect_on_all_targets("cast(f32), normalize(mean=33.3, std=78.6)", pixels,
                        twin_normalize(twin_cast(pixels, DType::kF32), {33.3}, {78.6}));
}

TEST(Scale, EqualsTheTwinForEveryType) {
  for (DType dtype : kAllDtypes) {
    if (is_complex(dtype)) continue;
    for (int64_t size : {1, 16, 333}) {
      const Tensor in = random_tensor(dtype, {size}, "", 4);
      expect_on_all_targets("scale(0.00392156862745098)", in, twin_scale(in, 0.00392156862745098));
    }
  }
}

TEST(Scale, KeepsTheSignOfZero) {
  Tensor in = empty_tensor(DType::kF32, {2}, "");
  const float zeros[] = {-0.0f, 0.0f};
  std::memcpy(in.bytes.data(), zeros, sizeof zeros);
  EXPECT_EQ(transform_one("scale(3)", in).bytes, in.bytes);
  in.bytes[3] = std::byte{0x80};
  in.bytes[7] = std::byte{0x80};
  EXPECT_EQ(transform_one("scale(3)", in).bytes, in.bytes);
}

TEST(Chain, LongerThanABlockEqualsTheTwin) {
  for (int64_t size : {1, 1000, 1023, 1024, 1025, 3072, 5000}) {
    const Tensor in = random_tensor(DType::kU8, {size, 3}, "TC", static_cast<uint64_t>(size));
    Tensor expected = twin_scale(twin_normalize(in, {0.1, 0.2, 0.3}, {0.4, 0.5, 0.6}), 100);
    expected = twin_normalize(twin_cast(expected, DType::kF16), {3, 2, 1}, {2, 4, 8});
    expected = twin_cast(twin_cast(expected, DType::kI16), DType::kF64);
    expect_on_all_targets(
        "normalize(mean=[0.1, 0.2, 0.3], std=[0.4, 0.5, 0.6]), scale(100), cast(f16), "
        "normalize(mean=[3, 2, 1], std=[2, 4, 8]), cast(i16), cast(f64)",
        in, expected);
  }
}

// What follows a reshape counts its channels by the new shape.
TEST(Chain, ChannelsAfterAReshapeAreThoseOfTheNewShape) {
  const std::string first = "normalize(mean=[0.1, 0.2, 0.3, 0.4], std=[1, 2, 3, 4]), ";
  const std::string second = "normalize(mean=[3, 2, 1], std=[2, 4, 8])";
  const Tensor in = random_tensor(DType::kU8, {6, 8, 4}, "HWC", 31);
  const Tensor made = twin_normalize(in, {0.1, 0.2, 0.3, 0.4}, {1, 2, 3, 4});
  const auto expected = [](const Tensor& of, bool to_planar) {
    Tensor now = twin_reshape(of, to_planar ? std::vector<int64_t>{8, 8, 3} : std::vector<int64_t>{3, 8, 8});
    now.axes = to_planar ? "HWC" : "CHW";
    return twin_normalize(to_planar ? twin_chw(now) : twin_hwc(now), {3, 2, 1}, {2, 4, 8});
  };
  for (const bool to_planar : {false, true}) {
    const std::string after = concat(to_planar ? "reshape(8x8x3), chw, " : "reshape(3x8x8), hwc, ", second);
    expect_on_all_targets(first + after, in, expected(made, to_planar));
    expect_on_all_targets("hflip(1), " + after, in, expected(twin_hflip(in, 1, {}), to_planar));
  }
}

// Small rows are gathered and mapped together, contiguous ones in one call: the same bytes in each case.
TEST(Rows, HowRowsLieChangesNothing) {
  for (int64_t side : {1, 2, 7, 40}) {
    const Tensor sample = empty_tensor(DType::kU8, {side, side, 3}, "HWC");
    std::vector<std::vector<std::byte>> rows, expected;
    for (uint64_t i = 0; i < 150; ++i) {
      const Tensor in = random_tensor(DType::kU8, sample.shape, "HWC", 1000 + i);
      rows.push_back(in.bytes);
      expected.push_back(twin_normalize(in, kImagenetMean, kImagenetStd).bytes);
    }
    for (SimdTarget target : simd_targets()) {
      for (int64_t run_rows : {1, 7, 64, 150}) {
        for (bool contiguous : {false, true}) {
          RunSetup setup;
          setup.target = target;
          setup.run_rows = run_rows;
          setup.contiguous = contiguous;
          setup.misalignment = 1;
          setup.source_offset = 2;
          EXPECT_EQ(run_transform("normalize(imagenet)", sample.field("data"), rows, setup).rows, expected);
        }
        RunSetup setup;
        setup.target = target;
        setup.run_rows = run_rows;
        setup.absent = {0, 5, 149};
        setup.target_stride = side * side * 12 + 8;
        const RunResult some = run_transform("normalize(imagenet)", sample.field("data"), rows, setup);
        EXPECT_EQ(some.rows[1], expected[1]);
        EXPECT_EQ(some.rows[148], expected[148]);
      }
    }
  }
}

}  // namespace
}  // namespace dataline::tests::affine_test
