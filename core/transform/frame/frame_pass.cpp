// SPDX-License-Identifier: Apache-2.0
#include "core/transform/frame/frame_pass.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/base/bytes.h"
#include "core/base/checked.h"
#include "core/base/text.h"
#include "core/memory/host_memory.h"
#include "core/transform/pixels/lines.h"

namespace dataline {
namespace {

constexpr int64_t kHeavyBytes = int64_t{64} << 10;  // frames that take tens of microseconds
constexpr int64_t kLinesBytes = int64_t{4} << 20;   // lines and tables of the resamplers and the tail

int64_t pixel_bytes(const FrameShape& shape, int64_t element_bytes) {
  return shape.fixed() ? shape.height * shape.width * shape.channels * element_bytes : 0;
}

struct FrameState : public ProgramState {
  std::unique_ptr<ImageDecoder> decoder;               // null: frames are stored
  std::vector<std::unique_ptr<Resampler>> resamplers;  // one per FrameWork, each with its own tables
  Block memory;
  FrameScratch scratch;
};

// The time that a decoder's lines take, apart from that of whoever asks for them.
class ClockedLines final : public LineSource {
 public:
  ClockedLines(LineSource& lines, PartClock& clock, int32_t part)
      : lines_(lines), clock_(clock), part_(part) {}
  const std::byte* const* lines(int64_t first, int64_t count) override {
    const int32_t before = clock_.enter(part_);
    const std::byte* const* out = lines_.lines(first, count);
    clock_.enter(before);
    return out;
  }
  const Status& status() const override { return lines_.status(); }

 private:
  LineSource& lines_;
  PartClock& clock_;
  const int32_t part_;
};

Status in_decode(Status status) { return status.is_ok() ? Status::ok() : std::move(status).in("decode"); }

}  // namespace

// One row on its way through a FramePass.
class FrameRow {
 public:
  FrameRow(const FramePass& pass, const RowContext& context, FrameState& state)
      : pass_(pass),
        plan_(pass.plan_),
        context_(context),
        state_(state),
        slot_(static_cast<uint64_t>(context.rows->first_slot + context.row)) {
    state_.scratch.reset();
  }

  // Returns the bytes written.
  Result<int64_t> run(Bytes from, std::byte* to, int64_t room) {
    DL_RETURN_IF_ERROR(open(from));
    for (size_t i = 0; i < plan_.works.size(); ++i) {
      const FrameWork& work = plan_.works[i];
      enter(static_cast<int32_t>(i));
      if (!work.stage.apply) {
        DL_ASSIGN_OR_RETURN(const View view, view_before_border(i));
        if (i + 1 == plan_.works.size()) return deliver(&view, to, room);
        DL_RETURN_IF_ERROR(into_memory(i, view));
        continue;
      }
      if (frame_.pixels == nullptr) {
        DL_ASSIGN_OR_RETURN(const View whole, compose_view({}));
        DL_RETURN_IF_ERROR(into_memory(i, whole));
      }
      DL_RETURN_IF_ERROR(apply(work));
    }
    if (frame_.pixels != nullptr) return deliver(nullptr, to, room);
    enter(0);  // what there is without works is the tail
    DL_ASSIGN_OR_RETURN(const View whole, compose_view({}));
    return deliver(&whole, to, room);
  }

 private:
  bool clocked() const { return context_.rows->clock != nullptr; }
  void enter(int32_t work) {
    if (clocked()) context_.rows->clock->enter(context_.part + (state_.decoder != nullptr ? 1 : 0) + work);
  }

  // Sets the frame's size, and the pixels of stored frames.
  Status open(Bytes from) {
    frame_.channels = plan_.input.channels;
    frame_.element_bytes = plan_.element_bytes;
    if (state_.decoder == nullptr) {
      frame_.height = plan_.input.height;
      frame_.width = plan_.input.width;
      if (plan_.planar_input && frame_.channels > 1) return join_planes(from.data());
      frame_.pixels = const_cast<std::byte*>(from.data());  // stored_: read only
      stored_ = true;
      return Status::ok();
    }
    ImageDecoder& decoder = *state_.decoder;
    DL_RETURN_IF_ERROR(in_decode(decoder.open(from)));
    if (decoder.channels() != frame_.channels || decoder.element_bytes() != frame_.element_bytes)
      return error(Code::kMismatch, "decode: expected ", frame_.channels, " channels of ",
                   frame_.element_bytes * 8, " bits, as the first record has, got ", decoder.channels(),
                   " of ", decoder.element_bytes() * 8, "; mode=rgb makes them equal");
    frame_.height = decoder.height();
    frame_.width = decoder.width();
    return Status::ok();
  }

  Status join_planes(const std::byte* from) {
    DL_RETURN_IF_ERROR(state_.scratch.take_pixels(frame_));
    const int64_t pixels = frame_.height * frame_.width;
    pass_.join_(from, frame_.pixels, pixels, frame_.channels, pixels * frame_.element_bytes);
    return Status::ok();
  }

  Result<View> compose_view(const std::vector<ViewStep>& steps) const {
    DL_ASSIGN_OR_RETURN(const View view, compose(steps, frame_.height, frame_.width, context_.key, slot_,
                                                 context_.rows->bucket));
    if (view.scales() && std::max(view.scaled_height, view.scaled_width) > kMaxSide)
      return error(Code::kTooLarge, "resize: expected sides of at most ", kMaxSide, ", got ",
                   picture_size(view.scaled_height, view.scaled_width), " from ",
                   picture_size(frame_.height, frame_.width));
    return view;
  }

  // The view of a work. Where steps follow a border, what is before them goes into memory, and the view is that of the rest.
  Result<View> view_before_border(size_t work) {
    std::vector<ViewStep> rest;
    const std::vector<ViewStep>* steps = &plan_.works[work].views;
    for (;;) {
      DL_ASSIGN_OR_RETURN(const View view, compose_view(*steps));
      if (view.steps == steps->size()) return view;
      DL_RETURN_IF_ERROR(into_memory(work, view));
      rest = std::vector<ViewStep>(steps->begin() + static_cast<std::ptrdiff_t>(view.steps), steps->end());
      steps = &rest;
    }
  }

  Status resample(size_t resampler, const View& view, LineSink& sink) {
    if (!view.border.any()) return resample_inside(resampler, view, sink);
    const int64_t pixel = frame_.channels * frame_.element_bytes;
    BorderSink inside(sink, view.border.top, view.border.left * pixel, view.out_width * pixel,
                      view.full_width() * pixel);
    inside.clear(0, view.border.top);
    DL_RETURN_IF_ERROR(resample_inside(resampler, view, inside));
    inside.clear(view.border.top + view.out_height, view.border.bottom);
    return Status::ok();
  }

  Status resample_inside(size_t resampler, const View& view, LineSink& sink) {
    Resampler& worker = *state_.resamplers[resampler];
    const Resampler::Need need = worker.need(view);
    if (frame_.pixels == nullptr) {
      ImageDecoder& decoder = *state_.decoder;
      const int32_t before = clocked() ? context_.rows->clock->enter(context_.part) : 0;
      DL_RETURN_IF_ERROR(in_decode(decoder.start(need.region, need.max_lines, state_.scratch)));
      Status status;
      if (clocked()) {
        context_.rows->clock->enter(before);
        ClockedLines lines(decoder, *context_.rows->clock, context_.part);
        status = worker.run(view, frame_.channels, frame_.element_bytes, lines, sink, state_.scratch);
      } else {
        status = worker.run(view, frame_.channels, frame_.element_bytes, decoder, sink, state_.scratch);
      }
      return state_.decoder->status().is_ok() ? std::move(status) : in_decode(state_.decoder->status());
    }
    DL_RETURN_IF_ERROR(lines_.start(frame_, need.region, need.max_lines, state_.scratch));
    return worker.run(view, frame_.channels, frame_.element_bytes, lines_, sink, state_.scratch);
  }

  // Replaces the frame by the view's result, and releases the memory used on the way.
  Status into_memory(size_t resampler, const View& view) {
    Frame made = frame_;
    made.height = view.full_height();
    made.width = view.full_width();
    DL_RETURN_IF_ERROR(state_.scratch.take_pixels(made));
    const int64_t mark = state_.scratch.mark();
    FrameSink sink(made);
    DL_RETURN_IF_ERROR(resample(resampler, view, sink));
    state_.scratch.release(mark);
    frame_ = made;
    stored_ = false;
    return Status::ok();
  }

  Status apply(const FrameWork& work) {
    if (stored_) {
      const std::byte* const from = frame_.pixels;
      DL_RETURN_IF_ERROR(state_.scratch.take_pixels(frame_));
      if (frame_.bytes() > 0) std::memcpy(frame_.pixels, from, static_cast<size_t>(frame_.bytes()));
      stored_ = false;
    }
    return work.stage.apply(Draws(context_.key, slot_, work.place), state_.scratch, frame_);
  }

  // Writes the view of the frame, or without one the frame in memory, through the tail into the slot.
  Result<int64_t> deliver(const View* view, std::byte* to, int64_t room) {
    Frame out = frame_;
    if (view != nullptr) {
      out.height = view->full_height();
      out.width = view->full_width();
    }
    const int64_t bytes = out.height * out.width * out.channels * pass_.tail_.element_bytes();
    if (bytes > room)
      return error(Code::kTooLarge, "image of ", picture_size(out.height, out.width), " needs ", bytes,
                   " bytes, max_bytes_per_sample is ", room, "; raise max_bytes_per_sample to at least ",
                   bytes);
    TailSink sink(pass_.tail_, out, to, context_.scratch);
    DL_RETURN_IF_ERROR(sink.start(state_.scratch));
    if (view == nullptr) {
      sink.take_frame();
    } else {
      DL_RETURN_IF_ERROR(resample(state_.resamplers.size() - 1, *view, sink));
      sink.finish();
    }
    if (context_.rows->target_extents != nullptr && !plan_.output.fixed())
      context_.rows->target_extents[context_.row] = {out.height, out.width};
    return bytes;
  }

  const FramePass& pass_;
  const FramePlan& plan_;
  const RowContext& context_;
  FrameState& state_;
  uint64_t slot_;
  // The frame so far. Its pixels are null while it is still in the decoder.
  Frame frame_;
  bool stored_ = false;  // its pixels are the source's and read-only
  FrameSource lines_;
};

bool FramePlan::draws() const {
  for (const FrameWork& work : works) {
    if (work.stage.draws) return true;
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

// Frames of known sizes need much less than the limit for decoded ones.
int64_t FramePass::state_bytes() const {
  if (plan_.decode) return plan_.max_bytes;
  FrameShape shape = plan_.input;
  int64_t total = kLinesBytes + pixel_bytes(shape, plan_.element_bytes);
  for (const FrameWork& work : plan_.works) {
    int64_t max = pixel_bytes(shape, plan_.element_bytes);
    for (const ViewStep& step : work.views) {
      shape = step.shape(shape);
      max = std::max(max, pixel_bytes(shape, plan_.element_bytes));
    }
    shape = work.stage.shape(shape);
    if (!shape.fixed()) return plan_.max_bytes;
    max = std::max(max, pixel_bytes(shape, plan_.element_bytes));
    total += 4 * max;  // a stage of several operators has a frame for each
  }
  return std::min(total, plan_.max_bytes);
}

Result<std::unique_ptr<ProgramState>> FramePass::make_state(HostMemory& memory) const {
  auto state = std::make_unique<FrameState>();
  if (plan_.decode) {
    state->decoder = std::make_unique<ImageDecoder>(*plan_.decode);
  }
  for (size_t i = 0; i < std::max<size_t>(plan_.works.size(), 1); ++i)
    state->resamplers.push_back(make_resampler(target_));
  // Fresh pages: those that no image touches use no memory.
  DL_ASSIGN_OR_RETURN(state->memory, memory.allocate(state_bytes(), FrameScratch::kAlignment,
                                                     MemoryKind::kFrames, "images being decoded"));
  state->scratch = FrameScratch(state->memory.data(), state->memory.bytes());
  return std::unique_ptr<ProgramState>(std::move(state));
}

std::vector<std::string> FramePass::parts() const {
  std::vector<std::string> out;
  if (plan_.decode) out.emplace_back("decode");
  for (const FrameWork& work : plan_.works) out.push_back(work.text);
  if (plan_.works.empty()) out.emplace_back();
  if (!plan_.tail_text.empty()) out.back() += (out.back().empty() ? "" : ", ") + plan_.tail_text;
  if (out.back().empty()) out.back() = "to the batch";
  return out;
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
