// The stages of the operators on pixels, by their parameters: for the tests of their draws and values, and for operators
// that share one. An operator needs no entry here.
//
// Formulas and ranges follow torchvision.transforms.v2; each entry lists its draws (pixels/draws.h).
// Threads: immutable.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/base/status.h"
#include "core/transform/color/kernels.h"
#include "core/transform/pixels/stage.h"
#include "core/transform/warp/warp.h"

namespace dataline {

// v2.ColorJitter: brightness, contrast, saturation and hue, each by a random factor, in a random order per image.
// Draws: 0..2 the order (Fisher-Yates of four), 3..6 the factors, uniform.
// Ranges of brightness 0, contrast 1, saturation 2 and hue 3; absent: not applied.
using ColorJitter = std::array<std::optional<Range>, 4>;
std::array<size_t, 4> jitter_order(const Draws& draws);  // their indices, in the order drawn
FrameStage make_color_jitter(const ColorJitter& jitter, const ColorKernels& kernels);

// v2.GaussianBlur: one sigma for both sides, uniform in its range. Draw 0.
struct GaussianBlur {
  int64_t height = 1, width = 1;  // of the kernel, odd
  Range sigma{0.1, 2};
};
FrameStage make_gaussian_blur(const GaussianBlur& plan, const ColorKernels& kernels);

// Of 1 2 3 4, two more at the end: constant F F, edge 4 4, reflect 3 2, symmetric 4 3.
enum class PadMode : int32_t { kConstant, kEdge, kReflect, kSymmetric };

// functional.pad_image.
struct Padding {
  int64_t left = 0, top = 0, right = 0, bottom = 0;
  PadMode mode = PadMode::kConstant;
  std::array<uint8_t, 4> fill{};  // one per channel; kConstant only

  bool any() const { return left > 0 || top > 0 || right > 0 || bottom > 0; }
  // Whether an image of this size can be padded: reflect needs sides above the padding, symmetric sides not below it.
  // kOutOfRange, naming both.
  Status fits(int64_t height, int64_t width) const;
};
// No draws. Errors: fits(), kTooLarge.
FrameStage make_pad(const Padding& padding);

// v2.RandomErasing: a rectangle is overwritten.
// Draws: 0 whether. Attempt t of ten: 1 + 2t the area, uniform in scale; 2 + 2t the ratio of height to width, log-uniform;
// 21 and 22 the upper left corner; from 64 on one per value of the rectangle, channel by channel. If no attempt gives a
// rectangle smaller than the image, nothing is erased.
struct Erasing {
  double probability = 0.5;
  Range scale{0.02, 0.33}, ratio{0.3, 3.3};
  std::vector<std::byte> value;  // one element per channel; empty: from the standard normal distribution
};
std::optional<ImageRegion> draw_rectangle(const Erasing& erasing, const Draws& draws, int64_t height,
                                          int64_t width);

struct WarpStyle {
  Filter filter = Filter::kNearest;  // or kBilinear
  std::array<uint8_t, 4> fill{};     // one per channel
};

// v2.RandomRotation: counter-clockwise, in degrees, uniform. Draw 0.
struct Rotation {
  Range degrees;
  bool expand = false;  // the result holds the whole rotated image
};
WarpPlan rotation_plan(double degrees, bool expand, int64_t height, int64_t width);
FrameStage make_rotation(const Rotation& rotation, const WarpStyle& style);

// v2.RandomAffine. Draws: 0 angle, 1 and 2 translation, 3 scale, 4 and 5 shears.
struct AffineRanges {
  Range degrees;
  std::optional<std::array<double, 2>>
      translate;  // maximum share of width and height; whole pixels are drawn
  Range scale{1, 1};
  Range shear_x, shear_y;  // degrees
};
struct AffineDrawn {
  double degrees = 0, translate_x = 0, translate_y = 0, scale = 1, shear_x = 0, shear_y = 0;
};
AffineDrawn draw_affine(const AffineRanges& ranges, const Draws& draws, int64_t height, int64_t width);
FrameStage make_affine(const AffineRanges& ranges, const WarpStyle& style);

// v2.RandomPerspective: with probability p each corner moves inwards by up to `distortion` of half a side, whole pixels.
// Draws: 0 whether; 1..8 x and y of the corners, clockwise from the top left.
struct Perspective {
  double distortion = 0.5;
  double probability = 0.5;
};
using Corners4 = std::array<std::array<double, 2>, 4>;  // x, y; clockwise from the top left
Corners4 draw_corners(double distortion, const Draws& draws, int64_t height, int64_t width);
// functional._perspective: the map that moves the image's corner pixels to `corners`. Nothing if three of them are
// collinear: no such map exists (torchvision's least squares return an approximation).
std::optional<WarpMap> perspective_map(const Corners4& corners, int64_t height, int64_t width);
FrameStage make_perspective(const Perspective& perspective, const WarpStyle& style);

}  // namespace dataline
