// The filter and fill of the warps: rotate, affine and perspective.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/transform/operators/checks.h"
#include "core/transform/operators/stages.h"

namespace dataline {

inline Result<WarpStyle> warp_style(const Arguments& arguments, size_t filter, size_t fill,
                                    int64_t channels) {
  WarpStyle style;
  DL_ASSIGN_OR_RETURN(style.filter, warp_filter_argument(arguments, filter));
  DL_ASSIGN_OR_RETURN(style.fill, fill_argument(arguments, fill, channels));
  return style;
}

inline Status apply_warp(WarpPlan plan, const WarpStyle& style, FrameScratch& scratch, Frame& frame) {
  plan.filter = style.filter;
  plan.fills = true;  // torchvision's classes always pass their fill
  plan.fill = style.fill;
  return warp(plan, scratch, frame);
}

// The result has the frame's size.
inline Status apply_warp(const WarpMap& map, const WarpStyle& style, FrameScratch& scratch, Frame& frame) {
  return apply_warp({.map = map, .out_height = frame.height, .out_width = frame.width}, style, scratch,
                    frame);
}

}  // namespace dataline
