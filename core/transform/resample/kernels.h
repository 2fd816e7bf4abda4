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
// The inner loops: weighted sums of lines, and weighted sums of columns for a block of lines at once. A block has as many lines
// as a vector has lanes, and a vector holds one column of it. Summing columns is then the same arithmetic as summing lines: a
// broadcast weight and no shuffling. Lines are transposed to columns and back a strip at a time, small enough for the L1 cache.
//
// Threads: pure functions of immutable values.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/base/simd.h"
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

// What a view needs: its passes, the rows and columns of its rectangle that taps touch, and these taps.
struct ViewLayout {
  Passes passes;
  TapRange touched_rows, touched_columns;
  TapsWanted rows, columns;
};
ViewLayout view_layout(const View& view);

// `lines`: u8 of the source or i16 of the first pass; `out`: i16 after the first pass, u8 after the second.
struct RowsJob {
  const std::byte* const* lines = nullptr;
  int64_t count = 0;  // of lines, and of weights
  const int16_t* weights = nullptr;
  int64_t elements = 0;  // of a line
  std::byte* out = nullptr;
  Passes passes;
  int32_t shift = 0;  // kExact: of the weights
};

// Whole strips are read and written, so lines have room for kLineSlack more elements.
struct ColumnsJob {
  // A block of lines each: in the order that widen and rows leave elements in; u8 after the second pass, i16 (in reading
  // order) after the first.
  const int16_t* const* lines = nullptr;
  std::byte* const* out = nullptr;
  int64_t channels = 3;
  int64_t outputs = 0;         // columns of the result
  Taps taps;                   // all outputs have taps.stride of them, weight 0 included
  int64_t strip = 0;           // outputs at once, a multiple of 16
  int16_t* turned = nullptr;   // sized by resampler.cpp
  int16_t* results = nullptr;  // strip * channels * block
  Passes passes;
};

constexpr int64_t kLineSlack = 320;

struct ResampleKernels {
  int64_t block = 1;
  void (*rows_from_bytes)(const RowsJob& job) = nullptr;  // first pass, lines first
  void (*rows_from_words)(const RowsJob& job) = nullptr;  // second pass, columns first
  // u8 to what columns_from_bytes takes, i16; elements of it.
  void (*widen)(const std::byte* from, int64_t elements, int16_t* out) = nullptr;
  void (*columns_to_bytes)(const ColumnsJob& job) = nullptr;  // second pass
  void (*columns_to_words)(const ColumnsJob& job) = nullptr;  // first pass
};

ResampleKernels resample_kernels(SimdTarget target, Arithmetic arithmetic);
ResampleKernels plain_resample_kernels(Arithmetic arithmetic);  // a block of one line

}  // namespace dataline
