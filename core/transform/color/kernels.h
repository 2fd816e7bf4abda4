// The inner loops of colour operators, as function pointers selected at create: a plain version of each, and vector versions
// (with Highway) where they are faster. All versions of a loop write the same bytes.
//
// They follow torchvision.transforms.v2.functional on uint8 tensors: f32, truncated (not rounded) to a byte at the end.
// PyTorch computes `a + alpha * b` with one rounding (fused multiply-add) on machines that have it. Blend gets the same value
// from separately rounded sums and products, so that every machine and vector width writes the same bytes.
//
// Threads: immutable, no state.
// Limits: pixels may be unaligned; nothing outside them is read or written. Counts may be 0.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

#include "core/base/simd.h"

namespace dataline {

// --- One pixel.

// torchvision's weights of R, G and B (_rgb_to_grayscale_image); they sum to 0.9999.
constexpr float kRedWeight = 0.2989F;
constexpr float kGreenWeight = 0.587F;
constexpr float kBlueWeight = 0.114F;

// Grey level, 0..254. Equal to PyTorch's fused sums except for 21 of all 2^24 colours.
inline int32_t gray_level(float r, float g, float b) {
  return static_cast<int32_t>(r * kRedWeight + g * kGreenWeight + b * kBlueWeight);
}

inline uint8_t cut_to_byte(float value) {
  return static_cast<uint8_t>(std::min(std::max(value, 0.0F), 255.0F));
}

// torchvision's _blend: x * ratio + rest, where rest = (1 - ratio) * other is given as two parts with an exact sum.
inline uint8_t blend_parts(float x, float ratio, float high, float low) {
  const float product = x * ratio;
  // Knuth's two-sum: sum + lost == product + high exactly.
  const float sum = product + high;
  const float shadow = sum - product;
  const float lost = (product - (sum - shadow)) + (high - shadow);
  return cut_to_byte(sum + (lost + low));
}

// Blend with another image: 1 - ratio is split so that products with 9-bit integers are exact in f32.
struct Blend {
  explicit Blend(double factor) : ratio(static_cast<float>(factor)) {
    const float rest = static_cast<float>(1.0 - factor);
    high = std::bit_cast<float>(std::bit_cast<uint32_t>(rest) & 0xffffff00u);
    low = rest - high;
  }
  float ratio = 1, high = 0, low = 0;
};

struct HuePixel {
  uint8_t r, g, b;
};

// torchvision's _rgb_to_hsv, hue shift and _hsv_to_rgb, with every step rounded as there.
inline HuePixel shift_hue(HuePixel pixel, float shift) {
  constexpr float kToUnit = static_cast<float>(1.0 / 255.0);
  constexpr float kToByte = static_cast<float>(255.0 + 1.0 - 1e-3);
  const float r = static_cast<float>(pixel.r) * kToUnit;
  const float g = static_cast<float>(pixel.g) * kToUnit;
  const float b = static_cast<float>(pixel.b) * kToUnit;
  const float max = std::max(std::max(r, g), b), min = std::min(std::min(r, g), b);
  const bool gray = max == min;
  const float range = max - min;
  const float saturation = range / (gray ? 1.0F : max);
  const float divisor = gray ? 1.0F : range;
  const float rc = (max - r) / divisor, gc = (max - g) / divisor, bc = (max - b) / divisor;
  float hue = max == r ? bc - gc : max == g ? (rc + 2.0F) - bc : (gc + 4.0F) - rc;
  hue = hue * static_cast<float>(1.0 / 6.0) + 1.0F;
  hue -= std::floor(hue);  // positive: fmod(hue, 1)
  hue += shift;
  hue -= std::floor(hue);  // remainder(hue, 1), sign of 1
  const float six = hue * 6.0F;
  const float sextant = std::floor(six);  // 6 where hue was rounded up to 1: wraps to 0
  const float part = six - sextant;
  const auto unit = [](float value) { return std::min(std::max(value, 0.0F), 1.0F); };
  const float scaled = saturation * part, rest = 1.0F - saturation;
  const float q = unit((1.0F - scaled) * max), t = unit((scaled + rest) * max), p = unit(rest * max);
  const auto byte = [](float value) { return static_cast<uint8_t>(value * kToByte); };
  switch (static_cast<int32_t>(sextant)) {
    case 1:
      return {byte(q), byte(max), byte(p)};
    case 2:
      return {byte(p), byte(max), byte(t)};
    case 3:
      return {byte(p), byte(q), byte(max)};
    case 4:
      return {byte(t), byte(p), byte(max)};
    case 5:
      return {byte(max), byte(p), byte(q)};
    default:
      return {byte(max), byte(t), byte(p)};
  }
}

// --- Loops.

// Lines that a vertical filter reads: `taps` of them, the weights symmetric, `weights[i]` for lines i and taps - 1 - i.
struct ColumnTaps {
  const uint8_t* const* lines = nullptr;
  const float* weights = nullptr;  // taps / 2 + 1: the middle one last
  int64_t taps = 1;                // odd
};

struct ColorKernels {
  // Sum of gray_level over RGB pixels.
  int64_t (*gray_sum)(const uint8_t* pixels, int64_t count);
  // RGB pixels to grey in one or three channels. `to` may be `pixels`.
  void (*to_gray)(const uint8_t* pixels, uint8_t* to, int64_t channels, int64_t count);
  // RGB pixels in place, each blended with its grey level.
  void (*saturate)(uint8_t* pixels, int64_t count, const Blend& blend);
  void (*shift_hue)(uint8_t* pixels, int64_t count, float shift);
  // One line: all pixels but the first and the last are blended with the mean of their 3x3 (the middle weighted 5), rounded.
  // `to` may not overlap above, line or below. bytes: of a line.
  void (*sharpen)(const uint8_t* above, const uint8_t* line, const uint8_t* below, uint8_t* to, int64_t bytes,
                  int64_t channels, const Blend& blend);
  // Blur: weighted sums of lines, then of neighbours in the line, in f32 in a fixed order; the second rounds to nearest even.
  // `from` holds count + (taps - 1) * channels values.
  void (*blur_columns)(const ColumnTaps& taps, float* to, int64_t count);
  void (*blur_line)(const float* from, const float* weights, int64_t taps, int64_t channels, uint8_t* to,
                    int64_t count);
};

ColorKernels color_kernels(SimdTarget target);
// The reference of the vector versions.
ColorKernels plain_color_kernels();

}  // namespace dataline
