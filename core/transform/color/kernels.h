// The inner loops of colour operators, as function pointers selected at create: a plain version of each, and vector versions
// (with Highway) where they are faster. All versions of a loop write the same bytes.
//
// Threads: immutable, no state.
// Limits: pixels may be unaligned; nothing outside them is read or written. Counts may be 0.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "core/base/simd.h"
#include "core/transform/color/pixel_math.h"

namespace dataline {

// Lines that a vertical filter reads: `taps` of them, the weights symmetric, `weights[i]` for lines i and taps - 1 - i.
struct ColumnTaps {
  const uint8_t* const* lines = nullptr;
  const float* weights = nullptr;  // taps / 2 + 1: the middle one last
  int64_t taps = 1;                // odd
};

struct ColorKernels {
  // Sum of gray_level over RGB pixels.
  int64_t (*gray_sum)(const uint8_t* pixels, int64_t count);
  // RGB pixels to grey: in all three channels, in place; or to one channel, where `to` may be `pixels`.
  void (*gray_three)(uint8_t* pixels, int64_t count);
  void (*gray_one)(const uint8_t* pixels, uint8_t* to, int64_t count);
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
