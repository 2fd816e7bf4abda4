// SPDX-License-Identifier: Apache-2.0
#include "core/transform/color/kernels.h"

namespace dataline {
namespace {

int32_t gray_of(const uint8_t* pixel) {
  return gray_level(static_cast<float>(pixel[0]), static_cast<float>(pixel[1]), static_cast<float>(pixel[2]));
}

int64_t gray_sum(const uint8_t* pixels, int64_t count) {
  int64_t sum = 0;
  for (int64_t i = 0; i < count; ++i) sum += gray_of(pixels + 3 * i);
  return sum;
}

void to_gray(const uint8_t* pixels, uint8_t* to, int64_t channels, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    const uint8_t level = static_cast<uint8_t>(gray_of(pixels + 3 * i));
    for (int64_t c = 0; c < channels; ++c) to[channels * i + c] = level;
  }
}

void saturate(uint8_t* pixels, int64_t count, const Blend& blend) {
  for (int64_t i = 0; i < count; ++i) {
    const float gray = static_cast<float>(gray_of(pixels + 3 * i));
    for (int64_t c = 0; c < 3; ++c) {
      uint8_t& x = pixels[3 * i + c];
      x = blend_parts(static_cast<float>(x), blend.ratio, blend.high * gray, blend.low * gray);
    }
  }
}

void shift_hues(uint8_t* pixels, int64_t count, float shift) {
  for (int64_t i = 0; i < count; ++i) {
    uint8_t* const at = pixels + 3 * i;
    const HuePixel out = shift_hue(HuePixel{at[0], at[1], at[2]}, shift);
    at[0] = out.r;
    at[1] = out.g;
    at[2] = out.b;
  }
}

void sharpen(const uint8_t* above, const uint8_t* line, const uint8_t* below, uint8_t* to, int64_t bytes,
             int64_t channels, const Blend& blend) {
  for (int64_t i = 0; i < bytes; ++i) {
    to[i] = line[i];
    if (i < channels || i >= bytes - channels) continue;
    int32_t sum = 4 * line[i];
    for (const uint8_t* lines : {above, line, below})
      sum += lines[i - channels] + lines[i] + lines[i + channels];
    const int32_t nearest = (sum + 6) / 13;  // 13 is odd: no ties
    const auto blurred = static_cast<float>(nearest);
    const float away = blurred - static_cast<float>(line[i]);
    to[i] = blend_parts(static_cast<float>(line[i]), 1.0F, blend.high * away, blend.low * away);
  }
}

void blur_columns(const ColumnTaps& taps, float* to, int64_t count) {
  const int64_t half = taps.taps / 2;
  for (int64_t i = 0; i < count; ++i) {
    float sum = static_cast<float>(taps.lines[half][i]) * taps.weights[half];
    for (int64_t k = 0; k < half; ++k)
      sum += static_cast<float>(taps.lines[k][i] + taps.lines[taps.taps - 1 - k][i]) * taps.weights[k];
    to[i] = sum;
  }
}

// To nearest even, for 0 <= value < 2^22: adding 2^23 leaves no fraction bits.
uint8_t round_to_byte(float value) {
  constexpr float kNoFraction = 8388608.0F;
  return static_cast<uint8_t>(std::min((value + kNoFraction) - kNoFraction, 255.0F));
}

void blur_line(const float* from, const float* weights, int64_t taps, int64_t channels, uint8_t* to,
               int64_t count) {
  const int64_t half = taps / 2, span = (taps - 1) * channels;
  for (int64_t i = 0; i < count; ++i) {
    float sum = from[i + half * channels] * weights[half];
    for (int64_t k = 0; k < half; ++k)
      sum += (from[i + k * channels] + from[i + span - k * channels]) * weights[k];
    to[i] = round_to_byte(sum);
  }
}

}  // namespace

ColorKernels plain_color_kernels() {
  return {.gray_sum = gray_sum,
          .to_gray = to_gray,
          .saturate = saturate,
          .shift_hue = shift_hues,
          .sharpen = sharpen,
          .blur_columns = blur_columns,
          .blur_line = blur_line};
}

}  // namespace dataline
