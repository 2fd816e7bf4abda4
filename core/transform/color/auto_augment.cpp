// SPDX-License-Identifier: Apache-2.0
#include "core/transform/color/auto_augment.h"

#include <cmath>
#include <cstring>

#include "core/transform/color/adjust.h"
#include "core/transform/warp/warp.h"

namespace dataline {
namespace {

// torch.linspace in f32: computed from the nearer end, each value rounded once (the products are exact in f64).
float linspace(float start, float end, int64_t steps, int64_t i) {
  if (steps == 1) return start;
  const double step = static_cast<double>((end - start) / static_cast<float>(steps - 1));
  if (i < steps / 2) return static_cast<float>(static_cast<double>(start) + step * static_cast<double>(i));
  return static_cast<float>(static_cast<double>(end) - step * static_cast<double>(steps - 1 - i));
}

// The maximum magnitude of operators whose magnitude grows from 0.
double max_of(AugmentSpace space, Augment augment, int64_t height, int64_t width) {
  const bool wide = space == AugmentSpace::kTrivialWide;
  constexpr double kShare = 150.0 / 331.0, kWideTranslation = 32;
  if (augment == Augment::kShearX || augment == Augment::kShearY) return wide ? 0.99 : 0.3;
  if (augment == Augment::kTranslateX) return wide ? kWideTranslation : kShare * static_cast<double>(width);
  if (augment == Augment::kTranslateY) return wide ? kWideTranslation : kShare * static_cast<double>(height);
  if (augment == Augment::kRotate) return wide ? 135 : 30;
  if (augment_signed(augment)) return wide ? 0.99 : 0.9;  // colours
  return 0;
}

// Nearest to even, as torch.round.
float posterize_bits(AugmentSpace space, int64_t bin, int64_t bins) {
  const float lost = space == AugmentSpace::kTrivialWide ? 6 : 4;
  const float per_bit = static_cast<float>(static_cast<double>(bins - 1) / static_cast<double>(lost));
  return std::nearbyint(8.0F - static_cast<float>(bin) / per_bit);
}

// Shears are relative to the upper left corner.
WarpMap map_of(Augment augment, float magnitude, const Frame& frame) {
  const double by = static_cast<double>(magnitude);
  const double half_height = static_cast<double>(frame.height) / 2,
               half_width = static_cast<double>(frame.width) / 2;
  if (augment == Augment::kShearX) return {{1, by, by * half_height, 0, 1, 0, 0, 0}};
  if (augment == Augment::kShearY) return {{1, 0, 0, by, 1, by * half_width, 0, 0}};
  if (augment == Augment::kTranslateX) return {{1, 0, -std::trunc(by), 0, 1, 0, 0, 0}};
  if (augment == Augment::kTranslateY) return {{1, 0, 0, 0, 1, -std::trunc(by), 0, 0}};
  return inverse_affine(-by, 0, 0, 1, 0, 0);
}

// Copies the result back into the frame's memory, so that any number of operators needs at most one more frame.
Status move_pixels(const WarpMap& map, const AugmentStyle& style, FrameScratch& scratch, Frame& frame) {
  const WarpPlan plan{.map = map,
                      .out_height = frame.height,
                      .out_width = frame.width,
                      .filter = style.filter,
                      .fills = style.fill.has_value(),
                      .fill = style.fill.value_or(std::array<uint8_t, 4>{})};
  const int64_t mark = scratch.mark();
  Frame moved = frame;
  DL_RETURN_IF_ERROR(warp(plan, scratch, moved));
  if (frame.bytes() > 0) std::memcpy(frame.pixels, moved.pixels, static_cast<size_t>(frame.bytes()));
  scratch.release(mark);
  return Status::ok();
}

// torchvision negates if `torch.rand(()) <= 0.5`.
float with_sign(Augment augment, float magnitude, double coin) {
  return augment_signed(augment) && coin < 0.5 ? -magnitude : magnitude;
}

}  // namespace

bool augment_signed(Augment augment) { return augment >= Augment::kShearX && augment <= Augment::kSharpness; }

float augment_magnitude(AugmentSpace space, Augment augment, int64_t bin, int64_t bins, int64_t height,
                        int64_t width) {
  if (augment == Augment::kPosterize) return posterize_bits(space, bin, bins);
  if (augment == Augment::kSolarize) return linspace(1, 0, bins, bin);
  return linspace(0, static_cast<float>(max_of(space, augment, height, width)), bins, bin);
}

Status apply_augment(Augment augment, float magnitude, const AugmentStyle& style, const ColorKernels& kernels,
                     FrameScratch& scratch, Frame& frame) {
  const double factor = 1.0 + static_cast<double>(magnitude);
  switch (augment) {
    case Augment::kIdentity:
      break;
    case Augment::kShearX:
    case Augment::kShearY:
    case Augment::kTranslateX:
    case Augment::kTranslateY:
    case Augment::kRotate:
      return move_pixels(map_of(augment, magnitude, frame), style, scratch, frame);
    case Augment::kBrightness:
      adjust_brightness(factor, frame);
      break;
    case Augment::kColor:
      adjust_saturation(kernels, factor, frame);
      break;
    case Augment::kContrast:
      adjust_contrast(kernels, factor, frame);
      break;
    case Augment::kSharpness:
      return adjust_sharpness(kernels, factor, scratch, frame);
    case Augment::kPosterize:
      map_levels(posterize_levels(static_cast<int64_t>(magnitude)), frame);
      break;
    case Augment::kSolarize:
      map_levels(solarize_levels(255 * static_cast<double>(magnitude)), frame);
      break;
    case Augment::kAutoContrast:
      map_levels(autocontrast_levels(frame), frame);
      break;
    case Augment::kEqualize:
      map_levels(equalize_levels(frame), frame);
      break;
  }
  return Status::ok();
}

DrawnAugment RandAugment::draw(const Draws& draws, int64_t k, int64_t height, int64_t width) const {
  const Augment augment = static_cast<Augment>(draws.below(2 * k, kAugments));
  const float size = augment_magnitude(AugmentSpace::kRand, augment, magnitude, bins, height, width);
  return {augment, with_sign(augment, size, draws.unit(2 * k + 1))};
}

DrawnAugment TrivialAugment::draw(const Draws& draws, int64_t height, int64_t width) const {
  const Augment augment = static_cast<Augment>(draws.below(0, kAugments));
  const float size =
      augment_magnitude(AugmentSpace::kTrivialWide, augment, draws.below(1, bins), bins, height, width);
  return {augment, with_sign(augment, size, draws.unit(2))};
}

}  // namespace dataline
