// Warps: exact cases by hand, golden digests, and that what is drawn is what torchvision draws. torchvision_test.py compares
// pixels.
// SPDX-License-Identifier: Apache-2.0
#include "core/transform/warp/warp.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <vector>

#include "core/base/digest.h"
#include "core/base/random.h"
#include "core/transform/operators/stages.h"

namespace dataline::warp_test {
namespace {

class Warped {
 public:
  Warped(int64_t height, int64_t width, int64_t channels)
      : memory_(1 << 20), scratch_(memory_.data(), 1 << 20) {
    frame = {scratch_.take(height * width * channels), height, width, channels, 1};
    for (int64_t i = 0; i < frame.bytes(); ++i)
      frame.pixels[i] = static_cast<std::byte>(random_bits(3, static_cast<uint64_t>(i)));
  }
  Status by(const WarpPlan& plan) { return warp(plan, scratch_, frame); }
  Status by(const FrameStage& stage, uint64_t slot) {
    return stage.apply(Draws(7, slot, 0), scratch_, frame);
  }
  std::vector<std::byte> bytes() const { return {frame.pixels, frame.pixels + frame.bytes()}; }
  std::byte at(int64_t y, int64_t x) const { return frame.pixels[(y * frame.width + x) * frame.channels]; }

  Frame frame;

 private:
  std::vector<std::byte> memory_;
  FrameScratch scratch_;
};

TEST(Warp, IdentityKeepsEveryByte) {
  for (const Filter filter : {Filter::kNearest, Filter::kBilinear})
    for (const bool fills : {false, true}) {
      Warped image(17, 23, 3);
      const std::vector<std::byte> before = image.bytes();
      WarpPlan plan;
      plan.out_height = 17;
      plan.out_width = 23;
      plan.filter = filter;
      plan.fills = fills;
      ASSERT_TRUE(image.by(plan).is_ok());
      EXPECT_EQ(image.bytes(), before);
    }
}

TEST(Warp, QuarterTurnsMovePixelsExactly) {
  for (const Filter filter : {Filter::kNearest, Filter::kBilinear}) {
    Warped image(12, 20, 1);
    const Warped original(12, 20, 1);
    WarpPlan plan = rotation_plan(90, true, 12, 20);
    plan.filter = filter;
    plan.fills = true;
    ASSERT_TRUE(image.by(plan).is_ok());
    ASSERT_EQ(image.frame.height, 20);
    ASSERT_EQ(image.frame.width, 12);
    for (int64_t y = 0; y < 20; ++y)
      for (int64_t x = 0; x < 12; ++x)
        ASSERT_EQ(image.at(y, x), original.at(x, 19 - y)) << y << " " << x;  // numpy.rot90
  }
}

TEST(Warp, AHorizonOrFarAwayIsFill) {
  Warped image(9, 9, 3);
  WarpPlan plan;
  plan.out_height = plan.out_width = 9;
  plan.fills = true;
  plan.fill = {1, 2, 3, 0};
  for (const double far : {1e300, 1e18, -1e300, 0.0}) {
    plan.map.m = {far, 0, 1e9, 0, far, 1e9, far == 0 ? 1e308 : 0.0, 1e308};
    ASSERT_TRUE(image.by(plan).is_ok());
  }
  plan.map.m = {1, 0, 1e9, 0, 1, 0, 0, 0};
  ASSERT_TRUE(image.by(plan).is_ok());
  for (int64_t i = 0; i < image.frame.bytes(); ++i)
    ASSERT_EQ(image.frame.pixels[i], static_cast<std::byte>(1 + i % 3));
}

TEST(Warp, NoRoomIsAnError) {
  std::vector<std::byte> memory(300);
  FrameScratch scratch(memory.data(), 300);
  Frame frame{scratch.take(75), 5, 5, 3, 1};
  WarpPlan plan;
  plan.out_height = plan.out_width = 10;
  const Status status = warp(plan, scratch, frame);
  EXPECT_EQ(status.code(), Code::kTooLarge);
  EXPECT_NE(status.message().find("max_decoded_bytes"), std::string::npos);
}

TEST(Warp, ExpandedSizesAreTorchvisions) {
  struct Row {
    int64_t height, width;
    double degrees;
    int64_t out_height, out_width;
  };
  for (const Row& row :  // torchvision 0.14, functional_tensor._compute_affine_output_size
       {Row{40, 60, 0, 40, 60}, Row{40, 60, 30, 66, 72}, Row{40, 60, 45, 72, 72}, Row{40, 60, 90, 60, 40},
        Row{40, 60, -17.5, 58, 70}, Row{40, 60, 133.3, 72, 72}, Row{40, 60, 180, 40, 60},
        Row{40, 60, 271.25, 62, 42}, Row{33, 51, 30, 55, 61}, Row{33, 51, -17.5, 47, 59},
        Row{33, 51, 133.3, 61, 59}, Row{33, 51, 271.25, 53, 35}, Row{100, 100, 30, 138, 138},
        Row{100, 100, 45, 142, 142}, Row{7, 300, 30, 157, 264}, Row{7, 300, 45, 219, 218},
        Row{7, 300, 90, 301, 8}, Row{7, 300, 133.3, 225, 212}, Row{7, 300, 271.25, 301, 14}}) {
    const WarpPlan plan = rotation_plan(row.degrees, true, row.height, row.width);
    EXPECT_EQ(plan.out_height, row.out_height) << row.height << "x" << row.width << " " << row.degrees;
    EXPECT_EQ(plan.out_width, row.out_width) << row.height << "x" << row.width << " " << row.degrees;
  }
}

TEST(Warp, PerspectiveTakesTheCornersToTheImages) {
  const Corners4 corners{{{5, 3}, {56, 0}, {59, 30}, {11, 30}}};
  const std::optional<WarpMap> map = perspective_map(corners, 40, 60);
  ASSERT_TRUE(map.has_value());
  const double from[4][2] = {{0, 0}, {59, 0}, {59, 39}, {0, 39}};
  for (size_t i = 0; i < 4; ++i) {
    const double u = corners[i][0] - 30, v = corners[i][1] - 20, w = map->m[6] * u + map->m[7] * v + 1;
    EXPECT_NEAR((map->m[0] * u + map->m[1] * v + map->m[2]) / w + 30, from[i][0], 1e-9);
    EXPECT_NEAR((map->m[3] * u + map->m[4] * v + map->m[5]) / w + 20, from[i][1], 1e-9);
  }
  EXPECT_FALSE(perspective_map({{{1, 1}, {1, 1}, {5, 5}, {0, 5}}}, 40, 60).has_value());
}

TEST(Warp, DrawnParametersCoverTheirRangesUniformly) {
  AffineRanges ranges;
  ranges.degrees = {-30, 60};
  ranges.translate = {0.1, 0.3};
  ranges.scale = {0.5, 2};
  ranges.shear_x = {-10, 5};
  ranges.shear_y = {1, 2};
  constexpr int kDraws = 20000;
  double means[6] = {}, least = 1e9, most = -1e9;
  std::set<double> shifts;
  for (uint64_t slot = 0; slot < kDraws; ++slot) {
    const AffineDrawn drawn = draw_affine(ranges, Draws(11, slot, 2), 200, 100);
    const double values[6] = {drawn.degrees, drawn.translate_x, drawn.translate_y,
                              drawn.scale,   drawn.shear_x,     drawn.shear_y};
    for (int i = 0; i < 6; ++i) means[i] += values[i] / kDraws;
    least = std::min(least, drawn.degrees);
    most = std::max(most, drawn.degrees);
    shifts.insert(drawn.translate_x);
    EXPECT_EQ(drawn.translate_y, std::nearbyint(drawn.translate_y));
    EXPECT_LE(std::abs(drawn.translate_y), 60);
  }
  const double middles[6] = {15, 0, 0, 1.25, -2.5, 1.5}, widths[6] = {90, 20, 120, 1.5, 15, 1};
  for (int i = 0; i < 6; ++i)
    EXPECT_NEAR(means[i], middles[i], 4 * widths[i] / std::sqrt(12.0 * kDraws)) << i;
  EXPECT_NEAR(least, -30, 0.1);
  EXPECT_NEAR(most, 60, 0.1);
  EXPECT_EQ(shifts.size(), 21u);  // -10 .. 10 of 100
}

TEST(Warp, CornersMoveInwardsByUpToDistortion) {
  std::array<std::set<double>, 8> seen;
  for (uint64_t slot = 0; slot < 5000; ++slot) {
    const Corners4 corners = draw_corners(0.5, Draws(1, slot, 0), 21, 40);
    for (size_t i = 0; i < 8; ++i) seen[i].insert(corners[i / 2][i % 2]);
  }
  // torch.randint(0, int(0.5 * 20) + 1), torch.randint(40 - 10 - 1, 40); of 21 high: half is 10, of which 5.
  for (const size_t left : {0, 6})
    EXPECT_EQ(std::make_pair(*seen[left].begin(), *seen[left].rbegin()), std::make_pair(0.0, 10.0));
  for (const size_t right : {2, 4})
    EXPECT_EQ(std::make_pair(*seen[right].begin(), *seen[right].rbegin()), std::make_pair(29.0, 39.0));
  for (const size_t top : {1, 3})
    EXPECT_EQ(std::make_pair(*seen[top].begin(), *seen[top].rbegin()), std::make_pair(0.0, 5.0));
  for (const size_t bottom : {5, 7})
    EXPECT_EQ(std::make_pair(*seen[bottom].begin(), *seen[bottom].rbegin()), std::make_pair(15.0, 20.0));
}

std::string digest_of(const FrameStage& stage) {
  Digest digest;
  for (uint64_t slot = 0; slot < 12; ++slot)
    for (const int64_t channels : {1, 3, 4}) {
      Warped image(31, 47, channels);
      EXPECT_TRUE(image.by(stage, slot).is_ok());
      digest.add(Bytes(image.frame.pixels, static_cast<size_t>(image.frame.bytes())));
    }
  return digest.hex();
}

TEST(Warp, GoldenDigestOfEachOperator) {
  AffineRanges ranges;
  ranges.degrees = {-40, 40};
  ranges.translate = {0.2, 0.2};
  ranges.scale = {0.6, 1.6};
  ranges.shear_x = {-20, 20};
  ranges.shear_y = {-5, 5};
  const WarpStyle nearest{Filter::kNearest, {9, 8, 7, 6}}, bilinear{Filter::kBilinear, {9, 8, 7, 6}};
  EXPECT_EQ(digest_of(make_rotation({{-180, 180}, false}, nearest)), "b9b7ed364ee8ad69");
  EXPECT_EQ(digest_of(make_rotation({{-180, 180}, true}, bilinear)), "a1a8593027f0292e");
  EXPECT_EQ(digest_of(make_affine(ranges, nearest)), "7cb5e213e9499034");
  EXPECT_EQ(digest_of(make_affine(ranges, bilinear)), "3d52a7663b430c60");
  EXPECT_EQ(digest_of(make_perspective({0.5, 1}, nearest)), "542df37ec1bc3554");
  EXPECT_EQ(digest_of(make_perspective({0.5, 0.6}, bilinear)), "8ad0ade9b94cbd59");
}

}  // namespace
}  // namespace dataline::warp_test
