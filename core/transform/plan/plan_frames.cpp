// The part of a plan that works on frames.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "core/transform/plan/plan.h"

namespace dataline {
namespace {

void join_view(FramePlan& frame, const ViewStep& step) {
  const bool joined =
      !frame.works.empty() && !frame.works.back().stage.apply && joins(frame.works.back().views, step);
  if (!joined) frame.works.emplace_back();
  frame.works.back().views.push_back(step);
  frame.output = step.shape(frame.output);
}

}  // namespace

Result<ImageHeader> Plan::first_header() const {
  if (!settings_->first_header)
    return error(Code::kUnsupported, "the first record of field '", input_.name, "' cannot be read here");
  return settings_->first_header(index_);
}

void Plan::set_frame(const FrameShape& shape) {
  set_image({draft_.frame->planar_output ? ImageLayout::kPlanar : ImageLayout::kInterleaved, shape.channels,
             shape.height, shape.width});
  field_.to_bucket = shape.of_bucket;
}

void Plan::add_decode(PixelMode mode, bool orient, int64_t channels, DType dtype) {
  end_draft();
  FramePlan frame;
  frame.decode = DecodeOptions{mode, orient, settings_->limits};
  frame.input.channels = channels;
  frame.output = frame.input;
  frame.element_bytes = dtype_bytes(dtype);
  frame.max_bytes = settings_->limits.max_decoded_bytes;
  draft_.frame = std::move(frame);
  draft_.input.dtype = dtype;  // what the tail reads
  field_.kind = FieldKind::kDense;
  field_.dtype = dtype;
  field_.axes = "HWC";
  field_.max_bytes = -1;
  pixels_ = decoded_ = joined_frame_ = true;
  upright_ = orient;
  scales_.assign(1, PixelScale());
  set_frame(draft_.frame->output);
}

// Begins a frame with the field as it is now, stored or made by earlier passes.
void Plan::begin_frame() {
  const ImageShape image = *this->image();
  FramePlan frame;
  frame.input = frame.output = {image.height, image.width, image.channels, field_.to_bucket};
  frame.element_bytes = dtype_bytes(field_.dtype);
  frame.planar_input = frame.planar_output = image.layout == ImageLayout::kPlanar;
  frame.max_bytes = settings_->limits.max_decoded_bytes;
  // Crops and flips already drafted become views if they neither pad nor follow element steps.
  if (draft_.image && draft_.steps.empty() && draft_.image->fill.empty() && !draft_.shape_lost) {
    const ImageShape& stored = draft_.image->input;
    frame.input = frame.output = {stored.height, stored.width, stored.channels};
    frame.planar_input = stored.layout == ImageLayout::kPlanar;
    for (const GeometryStep& step : draft_.image->steps) join_view(frame, step);
    for (OperatorText& written : written_) {
      if (written.pass != passes_.size()) continue;
      written.pixels = true;
      append_operator(frame.works.empty() ? frame.tail_text : frame.works.back().text, written.text);
    }
    draft_.image.reset();
  } else {
    end_draft();
  }
  draft_.frame = std::move(frame);
}

bool Plan::keeps_zero() const {
  return std::all_of(draft_.steps.begin(), draft_.steps.end(), [](const ElementStep& step) {
    return std::all_of(step.b.begin(), step.b.end(), [](float b) { return b == 0; });
  });
}

// The frame that an operator on pixels joins. `before_elements`: crops and flips may move before preceding element steps,
// since both orders give the same values.
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

void Plan::add_stage(FrameStage stage) {
  FramePlan& frame = frame_draft(false);
  frame.output = stage.shape(frame.output);
  frame.works.push_back({{}, std::move(stage), place_, {}});
  set_frame(frame.output);
}

void Plan::end_frame(ElementChain chain, BuiltPass& made) {
  auto frame = std::make_shared<FramePlan>(std::move(*draft_.frame));
  frame->chain = std::move(chain);
  made.draws = frame->draws();
  made.frame = std::move(frame);
}

}  // namespace dataline
