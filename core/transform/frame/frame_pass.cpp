// SPDX-License-Identifier: Apache-2.0
#include "core/transform/frame/frame_pass.h"

#include <algorithm>
#include <utility>

#include "core/base/checked.h"
#include "core/transform/frame/frame_row.h"

namespace dataline {
namespace {

constexpr int64_t kHeavyBytes = int64_t{64} << 10;  // pixels of tens of microseconds
constexpr int64_t kLinesBytes = int64_t{4} << 20;   // the resamplers' lines and tables, and the tail's

int64_t pixel_bytes(const FrameShape& shape, int64_t element_bytes) {
  return shape.fixed() ? shape.height * shape.width * shape.channels * element_bytes : 0;
}

}  // namespace

bool FramePlan::draws() const {
  for (const FrameWork& work : works) {
    if (work.stage != nullptr && work.stage->draws()) return true;
    if (std::any_of(work.views.begin(), work.views.end(), [](const ViewStep& step) { return step.draws(); }))
      return true;
  }
  return false;
}

FramePass::FramePass(FramePlan plan, SimdTarget target) : plan_(std::move(plan)), target_(target) {
  tail_.chain = std::move(plan_.chain);
  tail_.planar = plan_.planar_output && plan_.output.channels > 1;
  tail_.split = split_kernel(target, plan_.element_bytes, plan_.output.channels);
  join_ = join_kernel(target, plan_.element_bytes, plan_.input.channels);
}

bool FramePass::heavy() const {
  return plan_.decode || std::max(pixel_bytes(plan_.input, plan_.element_bytes),
                                  pixel_bytes(plan_.output, plan_.element_bytes)) >= kHeavyBytes;
}

// Frames of known sizes need little of what decoded ones may.
int64_t FramePass::state_bytes() const {
  if (plan_.decode) return plan_.most_bytes;
  FrameShape shape = plan_.input;
  int64_t total = kLinesBytes + pixel_bytes(shape, plan_.element_bytes);
  for (const FrameWork& work : plan_.works) {
    int64_t most = pixel_bytes(shape, plan_.element_bytes);
    for (const ViewStep& step : work.views) shape = step.shape(shape);
    if (work.stage != nullptr) shape = work.stage->shape(shape);
    if (!shape.fixed()) return plan_.most_bytes;
    most = std::max(most, pixel_bytes(shape, plan_.element_bytes));
    total += 4 * most;  // a stage of several operators has a frame of each
  }
  return std::min(total, plan_.most_bytes);
}

Result<std::unique_ptr<ProgramState>> FramePass::make_state(HostMemory& memory) const {
  auto state = std::make_unique<FrameState>();
  if (plan_.decode) {
    DL_ASSIGN_OR_RETURN(state->decoder, make_image_decoder(*plan_.decode));
  }
  for (size_t i = 0; i < std::max<size_t>(plan_.works.size(), 1); ++i)
    state->resamplers.push_back(make_resampler(target_));
  // Fresh pages: those that no image needs are never there.
  DL_ASSIGN_OR_RETURN(state->memory, memory.allocate(state_bytes(), FrameScratch::kAlignment,
                                                     MemoryKind::kFrames, "images being decoded"));
  state->scratch = FrameScratch(state->memory.data(), state->memory.bytes());
  return std::unique_ptr<ProgramState>(std::move(state));
}

int64_t FramePass::run(const RowContext& context, const std::byte* from, int64_t from_bytes, std::byte* to,
                       int64_t room) const {
  FrameState& state = static_cast<FrameState&>(*context.state);
  FrameRow row(*this, context, state);
  Result<int64_t> written = row.run(Bytes(from, static_cast<size_t>(from_bytes)), to, room);
  if (state.decoder != nullptr) {
    if (written.is_ok() && state.decoder->warned() && context.rows->warned != nullptr)
      ++*context.rows->warned;
    state.decoder->close();
  }
  return written.is_ok() ? written.value() : context.fail(written.take_status());
}

}  // namespace dataline
