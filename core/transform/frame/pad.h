// Borders around a frame: torchvision.transforms.v2.functional.pad_image.
//
// Threads: a PadStage is immutable.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

#include "core/transform/frame/stage.h"

namespace dataline {

// Of 1 2 3 4, two more at the end: constant F F, edge 4 4, reflect 3 2, symmetric 4 3.
enum class PadMode : int32_t { kConstant, kEdge, kReflect, kSymmetric };

struct Padding {
  int64_t left = 0, top = 0, right = 0, bottom = 0;
  PadMode mode = PadMode::kConstant;
  std::array<uint8_t, 4> fill{};  // one a channel; kConstant only

  // What is wrong with it for an image of this size: reflect wants sides above the padding, symmetric sides not below it.
  // kOutOfRange, naming both.
  Status fits(int64_t height, int64_t width) const;
};

// Takes new memory from the scratch. Draws nothing. Errors: fits(), kTooLarge.
class PadStage : public FrameStage {
 public:
  explicit PadStage(const Padding& padding) : padding_(padding) {}
  FrameShape shape(const FrameShape& in) const override;
  bool draws() const override { return false; }
  Status apply(const Draws& draws, FrameScratch& scratch, Frame& frame) const override;

 private:
  Padding padding_;
};

}  // namespace dataline
