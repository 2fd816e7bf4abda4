// Random rotations, affine maps and perspectives of frames, as torchvision.transforms.v2's RandomRotation, RandomAffine and
// RandomPerspective draw and apply them.
//
// Threads: immutable; any.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "core/transform/frame/stage.h"
#include "core/transform/warp/warp.h"

namespace dataline {

struct WarpStyle {
  Filter filter = Filter::kNearest;  // or kBilinear
  std::array<uint8_t, 4> fill{};     // one a channel
};

struct WarpRange {
  double low = 0, high = 0;
};

// Counter-clockwise, in degrees. RandomRotation.make_params: uniform; draw 0.
struct Rotation {
  WarpRange degrees;
  bool expand = false;  // the result holds the whole turned image
};
WarpPlan rotation_plan(double degrees, bool expand, int64_t height, int64_t width);

// RandomAffine.make_params. Draws: 0 angle, 1 and 2 translation, 3 scale, 4 and 5 shears.
struct AffineRanges {
  WarpRange degrees;
  std::optional<std::array<double, 2>> translate;  // most, of width and height; whole pixels are drawn
  WarpRange scale{1, 1};
  WarpRange shear_x, shear_y;  // degrees
};
struct AffineDrawn {
  double degrees = 0, translate_x = 0, translate_y = 0, scale = 1, shear_x = 0, shear_y = 0;
};
AffineDrawn draw_affine(const AffineRanges& ranges, const Draws& draws, int64_t height, int64_t width);

// RandomPerspective: with probability p each corner moves inwards by up to `distortion` of half a side, whole pixels.
// Draws: 0 whether; 1 .. 8 x and y of the corners, clockwise from the top left.
struct Perspective {
  double distortion = 0.5;
  double probability = 0.5;
};
using Corners4 = std::array<std::array<double, 2>, 4>;  // x, y; clockwise from the top left
Corners4 draw_corners(double distortion, const Draws& draws, int64_t height, int64_t width);
// functional._perspective: the map by which the image's corner pixels end up at `corners`. Nothing where three of them are
// in line: no map does that (torchvision's least squares give what they give).
std::optional<WarpMap> perspective_map(const Corners4& corners, int64_t height, int64_t width);

FrameStageRef make_rotation(const Rotation& rotation, const WarpStyle& style);
FrameStageRef make_affine(const AffineRanges& ranges, const WarpStyle& style);
FrameStageRef make_perspective(const Perspective& perspective, const WarpStyle& style);

}  // namespace dataline
