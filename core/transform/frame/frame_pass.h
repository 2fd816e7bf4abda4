// Images from their stored bytes, encoded or not, through views and stages into the slot, in one pass over their pixels
// where possible:
//
//   encoded bytes | stored frame -> [view | stage]* -> tail (elements, layout) -> slot
//
// A leading view makes the decoder produce only the rectangle it needs; the last view's lines go straight into the tail.
// Frames in between are in the worker's FrameScratch.
//
// Threads: immutable; each worker has a state of its own.
// Failure: a row fails alone, with the error of decode, a view or a stage.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/simd.h"
#include "core/transform/decode/decoder.h"
#include "core/transform/elements/kernels.h"
#include "core/transform/frame/tail_sink.h"
#include "core/transform/passes/pass.h"
#include "core/transform/pixels/frame.h"
#include "core/transform/pixels/stage.h"
#include "core/transform/resample/resampler.h"

namespace dataline {

// Crops, resizes and flips that form one view, or a stage.
struct FrameWork {
  std::vector<ViewStep> views;
  FrameStage stage;   // without apply(): the views
  int64_t place = 0;  // of the stage's operator
  std::string text;   // its operators
};

struct FramePlan {
  std::optional<DecodeOptions> decode;  // nothing: rows are stored frames
  FrameShape input;
  FrameShape output;
  int64_t element_bytes = 1;
  bool planar_input = false;              // stored as CHW; frames themselves are always HWC
  int64_t max_bytes = int64_t{64} << 20;  // max_decoded_bytes
  std::vector<FrameWork> works;
  std::string tail_text;  // the operators on elements and layout
  ElementChain chain;
  bool planar_output = false;

  bool draws() const;
};

class FramePass : public Pass {
 public:
  FramePass(FramePlan plan, SimdTarget target);
  int64_t scratch_bytes() const override { return tail_.chain.scratch_bytes(); }
  bool heavy() const override;
  int64_t state_bytes() const override;
  Result<std::unique_ptr<ProgramState>> make_state(HostMemory& memory) const override;
  // decode, then each work; the tail counts with the last.
  std::vector<std::string> parts() const override;
  int64_t run(const RowContext& context, const std::byte* from, int64_t from_bytes, std::byte* to,
              int64_t room) const override;

 private:
  friend class FrameRow;
  FramePlan plan_;
  FrameTail tail_;
  SimdTarget target_;
  PlaneKernel join_ = nullptr;
};

}  // namespace dataline
