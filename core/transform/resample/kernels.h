// The inner loops of resampling: weighted sums of lines, and weighted sums of columns for a block of lines at once.
//
// A block has as many lines as a vector has lanes, and a vector holds one column of it. Summing columns is then the same
// arithmetic as summing lines: a broadcast weight and no shuffling. Lines are transposed to columns and back a strip at a
// time, small enough for the L1 cache.
//
// Threads: pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/base/simd.h"
#include "core/transform/resample/layout.h"

namespace dataline {

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
  const int16_t* const* lines =
      nullptr;  // a block of them, in the order that widen and rows leave elements in
  std::byte* const* out =
      nullptr;  // a block: u8 after the second pass, i16 (in reading order) after the first
  int64_t channels = 3;
  int64_t columns = 0;  // of the lines
  int64_t outputs = 0;  // columns of the result
  Taps taps;            // all outputs have taps.stride of them, weight 0 included
  const int32_t* pairs =
      nullptr;                 // each weight twice, as two i16, so that one load broadcasts it (vector paths)
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
