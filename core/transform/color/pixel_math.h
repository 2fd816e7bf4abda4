// Arithmetic on one pixel as in torchvision.transforms.v2.functional on uint8 tensors: f32, truncated (not rounded) to a byte
// at the end. The loops of kernels_plain.cpp and color_simd.cpp compute the same.
//
// PyTorch computes `a + alpha * b` with one rounding (fused multiply-add) on machines that have it. Blend gets the same value
// from separately rounded sums and products, so that every machine and vector width writes the same bytes.
//
// Threads: pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

namespace dataline {

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

}  // namespace dataline
