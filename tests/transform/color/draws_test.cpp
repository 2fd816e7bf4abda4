// What colour operators, erasing and policies draw: the ranges and distributions that their documents promise, with fixed
// seeds.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <vector>

#include "core/base/portable_math.h"
#include "core/base/random.h"
#include "core/transform/color/adjust.h"
#include "core/transform/color/auto_augment.h"
#include "core/transform/operators/stages.h"
#include "core/transform/pixels/stage.h"
#include "tests/transform/golden/golden.h"

namespace dataline::draws_test {
namespace {

constexpr uint64_t kImages = 20000;

Draws draws_of(uint64_t slot) { return {random_key(5, 0, Domain::kAugment), slot, 1}; }

// Chi-square of counts that ought to be equal: above 5 sigma of its distribution is no chance.
template <typename Counts>
void expect_uniform(const Counts& counts, size_t kinds) {
  ASSERT_EQ(counts.size(), kinds);
  double total = 0, sum = 0;
  for (const auto& [key, count] : counts) total += static_cast<double>(count);
  const double expected = total / static_cast<double>(kinds), freedom = static_cast<double>(kinds - 1);
  for (const auto& [key, count] : counts)
    sum += (static_cast<double>(count) - expected) * (static_cast<double>(count) - expected) / expected;
  EXPECT_LE(sum, freedom + 5 * std::sqrt(2 * freedom));
}

// Kolmogorov-Smirnov: values in [0, 1) are uniform.
void expect_uniform(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const double n = static_cast<double>(values.size());
  ASSERT_GT(n, 1000);
  double most = 0;
  for (size_t i = 0; i < values.size(); ++i)
    most = std::max({most, std::abs(values[i] - static_cast<double>(i) / n),
                     std::abs(values[i] - static_cast<double>(i + 1) / n)});
  EXPECT_LE(most * std::sqrt(n), 2.2);  // below 1e-4 by chance
}

Picture one_pixel(std::vector<uint8_t> levels) {
  return {1, 1, static_cast<int64_t>(levels.size()), std::move(levels)};
}

TEST(ColorDraws, JitterOrdersAreAllEquallyLikely) {
  std::map<std::array<size_t, 4>, int64_t> counts;
  for (uint64_t slot = 0; slot < kImages; ++slot) ++counts[jitter_order(draws_of(slot))];
  expect_uniform(counts, 24);
}

// One factor at a time, seen in the one pixel that it scales.
TEST(ColorDraws, JitterFactorsAreUniformInTheirRange) {
  std::vector<double> factors;
  const FrameStage stage = make_color_jitter({Range{0.25, 1.25}}, plain_color_kernels());
  for (uint64_t slot = 0; slot < kImages; ++slot) {
    Canvas canvas(one_pixel({200}));
    ASSERT_TRUE(stage.apply(draws_of(slot), canvas.scratch, canvas.frame).is_ok());
    factors.push_back((canvas.picture().bytes[0] + random_unit(mix64(slot))) / 200 - 0.25);  // it was cut off
  }
  EXPECT_GE(*std::min_element(factors.begin(), factors.end()), 0);
  EXPECT_LE(*std::max_element(factors.begin(), factors.end()), 1.005);
  expect_uniform(factors);
}

TEST(ColorDraws, JitterWithoutFactorsLeavesPixelsAlone) {
  const FrameStage stage = make_color_jitter({}, plain_color_kernels());
  Canvas canvas(one_pixel({1, 128, 255}));
  ASSERT_TRUE(stage.apply(draws_of(1), canvas.scratch, canvas.frame).is_ok());
  EXPECT_EQ(canvas.picture().bytes, (std::vector<uint8_t>{1, 128, 255}));
}

TEST(ColorDraws, ProbabilityIsExactAtItsEndsAndMetBetween) {
  for (const double p : {0.0, 0.3, 1.0}) {
    int64_t times = 0;
    const FrameStage stage = make_maybe(p, [&](FrameScratch&, Frame&) {
      ++times;
      return Status::ok();
    });
    EXPECT_EQ(stage.draws, p == 0.3);
    Canvas canvas(one_pixel({1}));
    for (uint64_t slot = 0; slot < kImages; ++slot)
      ASSERT_TRUE(stage.apply(draws_of(slot), canvas.scratch, canvas.frame).is_ok());
    const double n = static_cast<double>(kImages), away = 5 * std::sqrt(p * (1 - p) * n);
    EXPECT_NEAR(static_cast<double>(times), p * n, away);
  }
}

// Where sizes vary, what does not fit is the record's error.
TEST(ColorStages, ImagesTooSmallForABorderFailAndNameBothSizes) {
  const Picture small{4, 5, 3, std::vector<uint8_t>(60, 1)};
  Canvas canvas(small);
  Status status = make_gaussian_blur({.height = 9, .width = 3}, plain_color_kernels())
                      .apply(draws_of(0), canvas.scratch, canvas.frame);
  EXPECT_EQ(status.code(), Code::kOutOfRange);
  EXPECT_EQ(status.message(),
            "gaussian_blur: expected an image of at least 2 wide, 5 high for a kernel of 3 wide, 9 high, got "
            "5 wide, 4 high");
  status = make_pad({.left = 5, .mode = PadMode::kReflect}).apply(draws_of(0), canvas.scratch, canvas.frame);
  EXPECT_EQ(status.code(), Code::kOutOfRange);
  EXPECT_EQ(
      status.message(),
      "pad: expected an image of at least 6 wide, 1 high for this padding and mode, got 5 wide, 4 high");
}

TEST(ColorStages, MemoryThatIsSpentIsTooLargeAndNotTouched) {
  Canvas canvas({4, 5, 3, std::vector<uint8_t>(60, 1)});
  FrameScratch none;
  const FrameStage stages[] = {make_gaussian_blur({.height = 3, .width = 3}, plain_color_kernels()),
                               make_pad({.left = 1}), make_rotation({{10, 10}, false}, {})};
  for (const FrameStage& stage : stages)
    EXPECT_EQ(stage.apply(draws_of(0), none, canvas.frame).code(), Code::kTooLarge);
}

TEST(ColorStages, GrayThatIsSpreadSaysHowMuchItLacks) {
  std::array<std::byte, 100> memory{};
  FrameScratch scratch(memory.data(), 100);
  Frame frame{scratch.take(50), 5, 10, 1, 1};
  const Status status = make_gray(plain_color_kernels(), 3, scratch, frame);
  EXPECT_EQ(status.code(), Code::kTooLarge);
  EXPECT_EQ(status.message(),
            "image of 10 wide, 5 high needs 150 bytes more, max_decoded_bytes is 100, of which 36 are left; "
            "raise max_decoded_bytes");
}

TEST(EraseDraws, RectanglesFollowScaleRatioAndAreAnywhere) {
  const Erasing erasing{.probability = 1, .value = {}};
  std::vector<double> areas, ratios, tops, lefts;
  constexpr int64_t kSide =
      20000;  // so large that rounding to pixels and rectangles that do not fit leave no trace
  const double low = portable_log(erasing.ratio.low), high = portable_log(erasing.ratio.high);
  for (uint64_t slot = 0; slot < kImages; ++slot) {
    const auto at = draw_rectangle(erasing, draws_of(slot), kSide, kSide);
    ASSERT_TRUE(at.has_value());
    ASSERT_TRUE(at->top >= 0 && at->left >= 0 && at->top + at->height <= kSide &&
                at->left + at->width <= kSide);
    const double h = static_cast<double>(at->height), w = static_cast<double>(at->width), side = kSide;
    tops.push_back(static_cast<double>(at->top) / (side - h + 1));
    lefts.push_back(static_cast<double>(at->left) / (side - w + 1));
    const double scale =
        (h * w / (side * side) - erasing.scale.low) / (erasing.scale.high - erasing.scale.low);
    if (scale > 0.8) continue;  // near its end some ratios do not fit and are drawn again
    areas.push_back(scale / 0.8);
    ratios.push_back((portable_log(h / w) - low) / (high - low));
  }
  expect_uniform(tops);
  expect_uniform(lefts);
  expect_uniform(areas);
  expect_uniform(ratios);
}

TEST(EraseDraws, WhatFitsNowhereIsLeftOut) {
  Erasing erasing{.probability = 1, .scale = {1, 1}, .value = {}};
  EXPECT_FALSE(draw_rectangle(erasing, draws_of(1), 10, 10).has_value());
  erasing = {.probability = 0, .value = {}};
  for (uint64_t slot = 0; slot < 100; ++slot)
    EXPECT_FALSE(draw_rectangle(erasing, draws_of(slot), 50, 50).has_value());
}

TEST(PolicyDraws, RandAugmentPicksEachOperatorAndSignAlike) {
  const RandAugment plan;
  for (const int64_t k : {0, 1}) {
    std::map<Augment, int64_t> counts;
    std::map<bool, int64_t> signs;
    for (uint64_t slot = 0; slot < kImages; ++slot) {
      const DrawnAugment drawn = plan.draw(draws_of(slot), k, 224, 224);
      ++counts[drawn.augment];
      const float size = augment_magnitude(AugmentSpace::kRand, drawn.augment, 9, 31, 224, 224);
      EXPECT_EQ(std::abs(drawn.magnitude), size);
      if (augment_signed(drawn.augment)) ++signs[drawn.magnitude < 0];
      EXPECT_TRUE(augment_signed(drawn.augment) || drawn.magnitude >= 0);
    }
    expect_uniform(counts, kAugments);
    expect_uniform(signs, 2);
  }
}

TEST(PolicyDraws, TrivialAugmentPicksEachOperatorAndBinAlike) {
  const TrivialAugment plan;
  std::map<Augment, int64_t> counts;
  std::map<float, int64_t> rotations;
  for (uint64_t slot = 0; slot < 5 * kImages; ++slot) {
    const DrawnAugment drawn = plan.draw(draws_of(slot), 224, 224);
    ++counts[drawn.augment];
    if (drawn.augment == Augment::kRotate) ++rotations[std::abs(drawn.magnitude)];
  }
  expect_uniform(counts, kAugments);
  expect_uniform(rotations, 31);
}

}  // namespace
}  // namespace dataline::draws_test
