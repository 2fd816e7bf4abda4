// One row's way through a FramePass.
//
// Threads: lives on the stack of the worker that runs the row.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/base/bytes.h"
#include "core/memory/host_memory.h"
#include "core/transform/frame/frame_lines.h"
#include "core/transform/frame/frame_pass.h"

namespace dataline {

struct FrameState : public ProgramState {
  std::unique_ptr<ImageDecoder> decoder;               // null: frames are stored
  std::vector<std::unique_ptr<Resampler>> resamplers;  // one a work, so that each keeps its own tables
  Block memory;
  FrameScratch scratch;
};

class FrameRow {
 public:
  FrameRow(const FramePass& pass, const RowContext& context, FrameState& state);
  // Returns the bytes written.
  Result<int64_t> run(Bytes from, std::byte* to, int64_t room);

 private:
  Status open(Bytes from);
  Status join_planes(const std::byte* from);
  Result<View> compose_view(const std::vector<ViewStep>& steps) const;
  Status start(const Resampler::Need& need);
  Status resample(size_t resampler, const View& view, LineSink& sink);
  Status into_memory(size_t resampler, const View& view);
  Status apply(const FrameWork& work);
  Result<int64_t> deliver(const View* view, std::byte* to, int64_t room);

  const FramePass& pass_;
  const FramePlan& plan_;
  const RowContext& context_;
  FrameState& state_;
  uint64_t slot_;
  // The frame so far. Its pixels are null as long as it is still in the decoder.
  Frame frame_;
  bool stored_ = false;  // its pixels are the source's: not to be written to
  FrameSource lines_;
};

}  // namespace dataline
