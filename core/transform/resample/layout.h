// How a view is carried out, settled before any pixel is touched: the definition that the plain resampler and the vector one
// share.
//
// Two passes, one an axis. Weights have up to 21 fractional bits in the first and 16 in the second, sums are exact in i32;
// between them values are i16 with 7 (6) fractional bits; the result is rounded to u8 once, halves up.
//
//   filters without negative weights   lines first, then columns: the order does not matter, and this one is cheaper
//   bicubic, lanczos with antialias    columns first, and between the passes values are held to 0 .. 255, as in Pillow: its
//                                      clipped overshoots are part of its result
//   bicubic without antialias          lines first, overshoots kept (one bit less), as in PyTorch
//
// Threads: immutable values.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "core/transform/resample/resampler.h"
#include "core/transform/resample/taps.h"

namespace dataline {

struct Passes {
  bool columns_first = false;  // x before y
  bool clips = false;          // between the passes, to 0 .. 255
  int32_t middle_bits = 7;     // fractional bits of what lies between
  int32_t first_shift = 21;    // most fractional bits of weights, first pass
  int32_t second_shift = 16;
};

Passes passes_of(const View& view);

// The rows and columns of the view's rectangle that its taps touch.
struct Touched {
  TapRange rows, columns;
};
Touched touched_by(const View& view);

TapsWanted rows_wanted(const View& view, const Touched& touched, const Passes& passes);
TapsWanted columns_wanted(const View& view, const Touched& touched, const Passes& passes);  // unpaired

}  // namespace dataline
