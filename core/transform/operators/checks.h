// What several operators check in the same words.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "core/transform/frame/pad.h"
#include "core/transform/operators.h"

namespace dataline {

Status want_dense(const Arguments& arguments, const Plan& plan);
Status want_decoded(const Arguments& arguments, const Plan& plan);            // no encoded bytes
Status want_real(const Arguments& arguments, const Plan& plan);               // not complex
Result<ImageShape> want_image(const Arguments& arguments, const Plan& plan);  // of one size
// A frame of u8 with 1, 3 or 4 channels, or what can become one: what Plan::add_view() and add_stage() take.
Result<FrameShape> want_frame(const Arguments& arguments, const Plan& plan);
// The frame that a plan is in, for crops and flips, which take any pixels.
FrameShape frame_of(const Plan& plan);
// That a sample of this shape has a byte count, for any dtype.
Status want_countable(const Arguments& arguments, const std::vector<int64_t>& shape);
// "size": one side for both, [height, width] or heightxwidth.
struct Size {
  int64_t height = 0;
  int64_t width = 0;
};
Result<Size> size_argument(const Arguments& arguments, size_t index);
// "p": from 0 to 1.
Result<double> probability_argument(const Arguments& arguments, size_t index, double fallback);
// "filter": nearest, bilinear, bicubic, area or lanczos.
Result<Filter> filter_argument(const Arguments& arguments, size_t index);
// "padding" in torchvision's order (all sides; left and right, top and bottom; left, top, right, bottom) and "mode"; a "fill"
// goes with mode=constant only, and what it is the operator reads.
struct BorderArguments {
  size_t padding, fill, mode;  // their places
};
Result<Padding> padding_argument(const Arguments& arguments, const BorderArguments& places);
// Two numbers above 0, the first not above the second.
struct Range {
  double low = 0;
  double high = 0;
};
Result<Range> range_argument(const Arguments& arguments, size_t index, Range fallback);

}  // namespace dataline
