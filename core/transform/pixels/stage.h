// An operator on the pixels of a whole frame: colour, warps, blur, padding. Crops, resizes and flips are views instead
// (resample/resampler.h).
//
// Threads: immutable; apply() runs on several workers at once, each with its own frame and scratch.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <utility>

#include "core/base/status.h"
#include "core/transform/pixels/draws.h"
#include "core/transform/pixels/frame.h"

namespace dataline {

struct FrameStage {
  bool draws = false;  // the result depends on (seed, epoch, slot)
  // Works in place, or takes memory from the scratch and points `frame` to it. u8 pixels of 1, 3 or 4 channels; the
  // operator has checked which. An error fails this row only.
  std::function<Status(const Draws& draws, FrameScratch& scratch, Frame& frame)> apply;
  // The output's shape; most stages keep the input's.
  std::function<FrameShape(const FrameShape& in)> shape = [](const FrameShape& in) { return in; };
};

// A change applied with a probability: torchvision's _RandomApplyTransform (v2/_transform.py).
// Draw 0: applied when it is below p; p = 1 always, p = 0 never.
inline FrameStage make_maybe(double probability, const std::function<Status(FrameScratch&, Frame&)>& change) {
  const bool draws = probability > 0 && probability < 1;
  return {draws, [=](const Draws& drawn, FrameScratch& scratch, Frame& frame) {
            return drawn.unit(0) < probability ? change(scratch, frame) : Status::ok();
          }};
}

}  // namespace dataline
