// The innermost loops of colour operators, as function pointers chosen at create: one plain version of each and vector
// versions (through Highway) of those that gain. All versions of a loop write the same bytes.
//
// Threads: immutable, no state.
// Limits: pixels may be unaligned; nothing is read or written beside them. Counts may be 0.
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
  // RGB pixels to grey ones in all three channels, in place; and to one channel, `to` may be `pixels`.
  void (*gray_three)(uint8_t* pixels, int64_t count);
  void (*gray_one)(const uint8_t* pixels, uint8_t* to, int64_t count);
  // RGB pixels in place: each blended with its own grey.
  void (*saturate)(uint8_t* pixels, int64_t count, const Blend& blend);
  void (*shift_hue)(uint8_t* pixels, int64_t count, float shift);
  // One line: what lies between the first and last pixel is blended with the mean of its 3x3 (the middle 5 times), rounded.
  // Neither `to` nor what it is in may be above, line or below. bytes: of a line.
  void (*sharpen)(const uint8_t* above, const uint8_t* line, const uint8_t* below, uint8_t* to, int64_t bytes,
                  int64_t channels, const Blend& blend);
  // Blur: sums of whole lines, then of neighbours in the line, in f32 in a fixed order; the second rounds to nearest even.
  // `from` holds count + (taps - 1) * channels values.
  void (*blur_columns)(const ColumnTaps& taps, float* to, int64_t count);
  void (*blur_line)(const float* from, const float* weights, int64_t taps, int64_t channels, uint8_t* to,
                    int64_t count);
};

ColorKernels color_kernels(SimdTarget target);
// What the vector versions are measured and tested against.
ColorKernels plain_color_kernels();

}  // namespace dataline
