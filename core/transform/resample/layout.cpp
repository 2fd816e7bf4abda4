// SPDX-License-Identifier: Apache-2.0
#include "core/transform/resample/kernels.h"

#include <algorithm>

namespace dataline {
namespace {

// Taps are monotonic, so the first and the last visible output pixel determine the range.
TapRange touched(const Axis& axis, int64_t begin, int64_t count) {
  const TapRange low = tap_range(axis, begin), high = tap_range(axis, begin + count - 1);
  return {low.first, high.first + high.count - low.first};
}

Passes passes_of(const View& view, int64_t taps) {
  const bool negative = view.filter == Filter::kBicubic || view.filter == Filter::kLanczos;
  const bool pillow = negative && (view.antialias || view.filter == Filter::kLanczos);
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

}  // namespace

ViewLayout view_layout(const View& view) {
  const Axis rows{view.height, view.scaled_height, view.filter, view.antialias};
  const Axis columns{view.width, view.scaled_width, view.filter, view.antialias};
  ViewLayout out;
  out.passes = passes_of(view, std::max(max_taps(rows), max_taps(columns)));
  out.touched_rows = touched(rows, view.window_top, view.out_height);
  out.touched_columns = touched(columns, view.window_left, view.out_width);
  const int32_t first = out.passes.first_shift, second = out.passes.second_shift;
  const bool fixed = out.passes.arithmetic != Arithmetic::kExact;
  out.rows = {.axis = rows,
              .begin = view.window_top,
              .count = view.out_height,
              .origin = out.touched_rows.first,
              .max_shift = out.passes.columns_first ? second : first,
              .fixed_shift = fixed};
  out.columns = {.axis = columns,
                 .begin = view.window_left,
                 .count = view.out_width,
                 .reversed = view.flip_x,
                 .origin = out.touched_columns.first,
                 .max_shift = out.passes.columns_first ? first : second,
                 .fixed_shift = fixed};
  return out;
}

}  // namespace dataline
