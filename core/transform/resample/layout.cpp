// SPDX-License-Identifier: Apache-2.0
#include "core/transform/resample/layout.h"

#include <algorithm>

namespace dataline {
namespace {

// Taps are monotonic, so the first and the last visible output pixel determine the range.
TapRange touched(const Axis& axis, int64_t begin, int64_t count) {
  const TapRange low = tap_range(axis, begin), high = tap_range(axis, begin + count - 1);
  return {low.first, high.first + high.count - low.first};
}

}  // namespace

Axis row_axis(const View& view) { return {view.height, view.scaled_height, view.filter, view.antialias}; }
Axis column_axis(const View& view) { return {view.width, view.scaled_width, view.filter, view.antialias}; }

Passes passes_of(const View& view) {
  const bool negative = view.filter == Filter::kBicubic || view.filter == Filter::kLanczos;
  const bool pillow = negative && (view.antialias || view.filter == Filter::kLanczos);
  const int64_t taps = std::max(max_taps(row_axis(view)), max_taps(column_axis(view)));
  Passes passes;
  passes.columns_first = passes.clips = pillow;
  if (!negative && taps <= kMaxPositiveTaps) return passes;
  if (pillow && taps <= kMaxSignedTaps) {
    passes.arithmetic = Arithmetic::kSigned;
    passes.first_shift = passes.second_shift = 14;
    return passes;
  }
  passes.arithmetic = Arithmetic::kExact;
  passes.middle_bits = negative && !pillow ? 6 : 7;
  passes.first_shift = 21;
  passes.second_shift = negative ? 15 : 16;  // with negative weights the absolute values sum to more than 1
  return passes;
}

Touched touched_by(const View& view) {
  return {touched(row_axis(view), view.window_top, view.out_height),
          touched(column_axis(view), view.window_left, view.out_width)};
}

TapsWanted rows_wanted(const View& view, const Touched& touched, const Passes& passes) {
  return {.axis = row_axis(view),
          .begin = view.window_top,
          .count = view.out_height,
          .origin = touched.rows.first,
          .max_shift = passes.columns_first ? passes.second_shift : passes.first_shift,
          .fixed_shift = passes.arithmetic != Arithmetic::kExact};
}

TapsWanted columns_wanted(const View& view, const Touched& touched, const Passes& passes) {
  return {.axis = column_axis(view),
          .begin = view.window_left,
          .count = view.out_width,
          .reversed = view.flip_x,
          .origin = touched.columns.first,
          .max_shift = passes.columns_first ? passes.first_shift : passes.second_shift,
          .fixed_shift = passes.arithmetic != Arithmetic::kExact};
}

}  // namespace dataline
