// Images from where they are stored, encoded or not, through views and stages into the slot, in one pass over their
// pixels where that is possible:
//
//   encoded bytes | stored frame -> [view | stage]* -> tail (elements, layout) -> slot
//
// A leading view has the decoder make only the rectangle that it needs; the last view's lines go straight into the
// tail. Between them frames lie in the worker's FrameScratch.
//
// Threads: immutable; what a worker keeps is its FrameState.
// Failure: a row fails alone, with what decode, a view or a stage says.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "core/base/simd.h"
#include "core/transform/decode/decoder.h"
#include "core/transform/frame/frame.h"
#include "core/transform/frame/stage.h"
#include "core/transform/frame/tail_sink.h"
#include "core/transform/kernels.h"
#include "core/transform/pass.h"
#include "core/transform/resample/resampler.h"
#include "core/transform/resample/view.h"

namespace dataline {

// Crops, resizes and flips that are one view together; or a stage.
struct FrameWork {
  std::vector<ViewStep> views;
  FrameStageRef stage;
  int64_t place = 0;  // of the stage's operator
};

struct FramePlan {
  std::optional<DecodeOptions> decode;  // nothing: rows are frames as they are stored
  FrameShape input;
  FrameShape output;
  int64_t element_bytes = 1;
  bool planar_input = false;               // stored as CHW; frames themselves are always HWC
  int64_t most_bytes = int64_t{64} << 20;  // max_decoded_bytes
  std::vector<FrameWork> works;
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
