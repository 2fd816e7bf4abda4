// The part of a plan that works on frames.
// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "core/transform/plan.h"
#include "core/transform/split.h"

namespace dataline {
namespace {

// What a crop or flip of raw tensors is to a frame. It pads nothing.
ViewStep view_step(const GeometryStep& step) {
  ViewStep out;
  out.place = step.place;
  if (step.kind == GeometryStep::Kind::kFlip) {
    out.kind = step.vertical ? ViewStep::Kind::kFlipY : ViewStep::Kind::kFlipX;
    out.probability = step.probability;
    return out;
  }
  out.kind = step.random ? ViewStep::Kind::kRandomCrop : ViewStep::Kind::kCrop;
  out.top = step.top;
  out.left = step.left;
  out.height = step.height;
  out.width = step.width;
  return out;
}

void join_view(FramePlan& frame, const ViewStep& step) {
  const bool joined =
      !frame.works.empty() && frame.works.back().stage == nullptr && joins(frame.works.back().views, step);
  if (!joined) frame.works.emplace_back();
  frame.works.back().views.push_back(step);
  frame.output = step.shape(frame.output);
}

}  // namespace

Result<ImageHeader> Plan::first_header() const {
  if (!settings_->first_header)
    return error(Code::kUnsupported, "the first record of field '", input_.name,
                 "' cannot be looked at here");
  return settings_->first_header(index_);
}

void Plan::set_frame(const FrameShape& shape) {
  set_image({draft_.frame->planar_output ? ImageLayout::kPlanar : ImageLayout::kInterleaved, shape.channels,
             shape.height, shape.width});
}

void Plan::add_decode(PixelMode mode, bool orient, int64_t channels, DType dtype) {
  end_draft();
  FramePlan frame;
  frame.decode = DecodeOptions{mode, orient, settings_->limits};
  frame.input.channels = channels;
  frame.output = frame.input;
  frame.element_bytes = dtype_bytes(dtype);
  frame.most_bytes = settings_->limits.max_decoded_bytes;
  draft_.frame = std::move(frame);
  draft_.input.dtype = dtype;  // what the tail reads
  field_.kind = FieldKind::kDense;
  field_.dtype = dtype;
  field_.axes = "HWC";
  field_.max_bytes = -1;
  pixels_ = decoded_ = joined_frame_ = true;
  scales_.assign(1, PixelScale());
  set_frame(draft_.frame->output);
}

// The field, stored or made by earlier passes, as it is now.
void Plan::begin_frame() {
  const ImageShape image = *this->image();
  FramePlan frame;
  frame.input = frame.output = {image.height, image.width, image.channels};
  frame.element_bytes = dtype_bytes(field_.dtype);
  frame.planar_input = frame.planar_output = image.layout == ImageLayout::kPlanar;
  frame.most_bytes = settings_->limits.max_decoded_bytes;
  // Crops and flips drafted for a pass of their own become views, if they neither pad nor follow element steps.
  if (draft_.image && draft_.steps.empty() && draft_.image->fill.empty() && !draft_.shape_lost) {
    const ImageShape& stored = draft_.image->input;
    frame.input = frame.output = {stored.height, stored.width, stored.channels};
    frame.planar_input = stored.layout == ImageLayout::kPlanar;
    for (const GeometryStep& step : draft_.image->steps) join_view(frame, view_step(step));
    for (Written& written : written_) written.pixels |= written.pass == passes_.size();
    draft_.image.reset();
  } else {
    end_draft();
  }
  draft_.frame = std::move(frame);
}

// What an operator on pixels joins. Crops and flips may come before element steps that the text has before them:
// both orders give the same values.
FramePlan& Plan::frame_draft(bool before_elements) {
  if (!in_frame() || !(draft_.steps.empty() || before_elements)) begin_frame();
  joined_frame_ = true;
  return *draft_.frame;
}

void Plan::add_view(ViewStep step) {
  step.place = place_;
  FramePlan& frame = frame_draft(!step.scales());
  join_view(frame, step);
  set_frame(frame.output);
}

void Plan::add_stage(FrameStageRef stage) {
  FramePlan& frame = frame_draft(false);
  frame.output = stage->shape(frame.output);
  frame.works.push_back({{}, std::move(stage), place_});
  set_frame(frame.output);
}

void Plan::end_frame(ElementChain chain) {
  Made made;
  made.frame = std::make_unique<FramePlan>(std::move(*draft_.frame));
  made.frame->chain = std::move(chain);
  made.steps = std::move(draft_.steps);
  made.draws = made.frame->draws();
  made.output = field_;
  passes_.push_back(std::move(made));
}

// Leaves the pixels to the host, u8 HWC of one size. Nothing, and nothing changed, when there is no more to be done.
std::optional<Tail> Plan::split_frame(Made& made) const {
  FramePlan& frame = *made.frame;
  const FrameShape& shape = frame.output;
  if (!shape.fixed()) return std::nullopt;
  Field between = field_;
  between.kind = FieldKind::kDense;
  between.dtype = frame.chain.input();
  between.shape = {shape.height, shape.width, shape.channels};
  between.axes = "HWC";
  std::optional<Tail> tail;
  if (frame.planar_output && shape.channels > 1) {
    ImagePlan layout;
    layout.input = {ImageLayout::kInterleaved, shape.channels, shape.height, shape.width};
    layout.output = layout.input;
    layout.output.layout = ImageLayout::kPlanar;
    tail = image_tail(layout, between.dtype, made.steps);
  } else {
    tail = flat_tail(between, {shape.channels, 1}, made.steps);
  }
  if (!tail) return std::nullopt;
  frame.chain = ElementChain({}, between.dtype, target_);
  frame.planar_output = false;
  made.output = std::move(between);
  return tail;
}

}  // namespace dataline
