// The exact definition of a resize, shared by the plain reference and the vector paths. Two passes, one per axis.
// Intermediate values have fractional bits, and the result is rounded to u8 once, halves up.
//
// kPositive: filters without negative weights. Lines first, then columns, which is cheaper; the order does not affect the
//   result. u16 products, then i16:
//     middle = (taps >> 1) + sum((pixel * 256 * weight) >> 16)           weights of 15 bits, middle of 7; taps of that line
//     result = (64 + sum((middle * weight + 2^14) >> 15)) >> 7           a weight of 1 is 32767 here
// kSigned: bicubic and lanczos. Columns first, and intermediate values clamped to 0 .. 255, as in Pillow up to 12 and in
//   torchvision, so that overshoots are clipped as they do (Pillow 13 does lines first where the height loses more than
//   twice as many pixels as the width, and so clips other overshoots):
//     middle = 2 * clamp(sum((pixel * 128 * weight + 2^14) >> 15))       weights of 14 bits, sums of 6
//     result = clamp((32 + sum((middle * weight + 2^14) >> 15)) >> 6)
// kExact: more taps than the rounding of the others allows (a scale of 24 or 2.7 to 1), and PyTorch's bicubic without
//   antialias. Exact sums in i32; weights of up to 21 bits in the first pass and 16 in the second; the order as above, or
//   lines first without clamping for PyTorch.
//
// Threads: immutable values.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "core/transform/resample/resampler.h"
#include "core/transform/resample/taps.h"

namespace dataline {

enum class Arithmetic { kPositive, kSigned, kExact };

struct Passes {
  Arithmetic arithmetic = Arithmetic::kPositive;
  bool columns_first = false;  // x before y
  bool clips = false;          // between the passes, to 0 .. 255
  int32_t middle_bits = 7;     // fractional bits of intermediate values (kExact)
  int32_t first_shift = 15;    // maximum fractional bits of weights, first pass
  int32_t second_shift = 15;
};

constexpr int64_t kMaxPositiveTaps = 48;
constexpr int64_t kMaxSignedTaps = 16;

Axis row_axis(const View& view);
Axis column_axis(const View& view);

Passes passes_of(const View& view);

// The rows and columns of the view's rectangle that its taps touch.
struct Touched {
  TapRange rows, columns;
};
Touched touched_by(const View& view);

TapsWanted rows_wanted(const View& view, const Touched& touched, const Passes& passes);
TapsWanted columns_wanted(const View& view, const Touched& touched, const Passes& passes);  // unpaired

}  // namespace dataline
