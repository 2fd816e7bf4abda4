// A change of pixels that happens with a probability: torchvision's _RandomApplyTransform (v2/_transform.py).
//
// Draws: 0: it happens when the draw is below p. p = 1 always, p = 0 never.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <utility>

#include "core/transform/frame/stage.h"

namespace dataline {

// Change: Status(FrameScratch&, Frame&) const; keeps the frame's shape.
template <typename Change>
class MaybeStage : public FrameStage {
 public:
  MaybeStage(double probability, Change change) : probability_(probability), change_(std::move(change)) {}
  bool draws() const override { return probability_ > 0 && probability_ < 1; }
  Status apply(const Draws& draws, FrameScratch& scratch, Frame& frame) const override {
    return draws.unit(0) < probability_ ? change_(scratch, frame) : Status::ok();
  }

 private:
  double probability_;
  Change change_;
};

template <typename Change>
FrameStageRef make_maybe(double probability, Change change) {
  return std::make_unique<MaybeStage<Change>>(probability, std::move(change));
}

}  // namespace dataline
