// One operator on pixels that is no crop, resize or flip (those are views, core/transform/resample/view.h): colour,
// warps, blur, padding.
//
// Threads: immutable; apply() is called by several workers at once, each with its own frame and scratch.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include "core/base/status.h"
#include "core/transform/frame/draws.h"
#include "core/transform/frame/frame.h"

namespace dataline {

class FrameStage {
 public:
  virtual ~FrameStage() = default;
  // What comes out for what goes in; most stages keep it.
  virtual FrameShape shape(const FrameShape& in) const { return in; }
  virtual bool draws() const = 0;  // its result depends on (seed, epoch, slot)
  // Works in place, or takes new memory from the scratch and lets `frame` name it. u8 pixels of 1, 3 or 4 channels (the
  // operator has checked which it takes). An error fails this row only.
  virtual Status apply(const Draws& draws, FrameScratch& scratch, Frame& frame) const = 0;
};

using FrameStageRef = std::unique_ptr<const FrameStage>;

}  // namespace dataline
