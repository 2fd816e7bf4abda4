// An operator on the pixels of a whole frame: colour, warps, blur, padding. Crops, resizes and flips are views instead
// (resample/view.h).
//
// Threads: immutable; apply() runs on several workers at once, each with its own frame and scratch.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "core/base/status.h"
#include "core/transform/pixels/draws.h"
#include "core/transform/pixels/frame.h"

namespace dataline {

class FrameStage {
 public:
  virtual ~FrameStage() = default;
  // The output's shape; most stages keep the input's.
  virtual FrameShape shape(const FrameShape& in) const { return in; }
  virtual bool draws() const = 0;  // the result depends on (seed, epoch, slot)
  // Works in place, or takes memory from the scratch and points `frame` to it. u8 pixels of 1, 3 or 4 channels; the
  // operator has checked which. An error fails this row only.
  virtual Status apply(const Draws& draws, FrameScratch& scratch, Frame& frame) const = 0;
};

using FrameStageRef = std::shared_ptr<const FrameStage>;

// A stage that keeps the frame's shape. Change: Status(const Draws&, FrameScratch&, Frame&) const.
template <typename Change>
class ChangeStage : public FrameStage {
 public:
  ChangeStage(bool draws, Change change) : draws_(draws), change_(std::move(change)) {}
  bool draws() const override { return draws_; }
  Status apply(const Draws& draws, FrameScratch& scratch, Frame& frame) const override {
    return change_(draws, scratch, frame);
  }

 private:
  bool draws_;
  Change change_;
};

template <typename Change>
FrameStageRef make_stage(bool draws, Change change) {
  return std::make_shared<ChangeStage<Change>>(draws, std::move(change));
}

// A change applied with a probability: torchvision's _RandomApplyTransform (v2/_transform.py).
// Draw 0: applied when it is below p; p = 1 always, p = 0 never. Change: Status(FrameScratch&, Frame&) const.
template <typename Change>
FrameStageRef make_maybe(double probability, Change change) {
  return make_stage(
      probability > 0 && probability < 1,
      [probability, change = std::move(change)](const Draws& draws, FrameScratch& scratch, Frame& frame) {
        return draws.unit(0) < probability ? change(scratch, frame) : Status::ok();
      });
}

}  // namespace dataline
