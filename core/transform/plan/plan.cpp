// SPDX-License-Identifier: Apache-2.0
#include "core/transform/plan/plan.h"

#include <algorithm>
#include <utility>

namespace dataline {
namespace {

int64_t elements_of(const Field& field, size_t first_dim) {
  int64_t total = 1;
  for (size_t i = first_dim; i < field.shape.size(); ++i) total *= field.shape[i];
  return total;
}

bool may_be_pixels(DType dtype) { return dtype == DType::kU8 || dtype == DType::kU16; }

bool is_channel_count(int64_t dim) { return dim == 1 || dim == 3 || dim == 4; }

}  // namespace

void append_operator(std::string& list, std::string_view text) {
  if (!list.empty()) list += ", ";
  list += text;
}

Plan::Plan(const Field& input, size_t index, const TransformSettings& settings, SimdTarget target)
    : input_(input),
      index_(index),
      settings_(&settings),
      field_(input),
      target_(target),
      pixels_(may_be_pixels(input.dtype)) {
  if (!settings.first_places.empty()) place_ = settings.first_places[index];
  if (pixels_) scales_.resize(1);
  begin_draft();
}

void Plan::begin_draft() {
  draft_ = Draft();
  draft_.input = field_;
  draft_.item_elements = field_.shape.empty() ? 1 : elements_of(field_, 1);
}

void Plan::next_operator(std::string_view text) {
  const size_t here = passes_.size();
  written_.push_back({text, draft_.empty() && here > 0 ? here - 1 : here, joined_frame_});
  if (draft_.frame && !(joined_frame_ && draft_.frame->works.empty())) {
    FramePlan& frame = *draft_.frame;
    append_operator(joined_frame_ ? frame.works.back().text : frame.tail_text, text);
  }
  joined_frame_ = false;
  ++place_;
}

std::optional<ImageShape> Plan::image() const {
  const std::vector<int64_t>& shape = field_.shape;
  if (field_.kind == FieldKind::kRagged) return std::nullopt;
  std::string axes = field_.axes;
  if (axes.empty() && shape.size() == 2) axes = "HW";
  if (axes.empty() && shape.size() == 3 && is_channel_count(shape[0]) != is_channel_count(shape[2]))
    axes = is_channel_count(shape[0]) ? "CHW" : "HWC";
  if (axes.size() != shape.size()) return std::nullopt;
  if (axes == "HW") return ImageShape{ImageLayout::kInterleaved, 1, shape[0], shape[1]};
  if (axes == "HWC") return ImageShape{ImageLayout::kInterleaved, shape[2], shape[0], shape[1]};
  if (axes == "CHW") return ImageShape{ImageLayout::kPlanar, shape[0], shape[1], shape[2]};
  return std::nullopt;
}

std::optional<Channels> Plan::channels() const {
  const size_t at = field_.axes.find('C');
  if (at == std::string::npos || field_.axes.size() != field_.shape.size()) return std::nullopt;
  if (field_.shape[at] < 1) return std::nullopt;
  return Channels{field_.shape[at], elements_of(field_, at + 1)};
}

void Plan::add_cast(DType to) {
  const DType from = field_.dtype;
  if (to == DType::kBool) pixels_ = false;
  if (from == to) return;
  if (to == DType::kBool || (dtype_is_integer(to) && !pixels_)) scales_.clear();
  push_step({.from = from, .to = to, .a = {}, .b = {}});
}

void Plan::push_step(ElementStep step) {
  if (field_.max_bytes >= 0)
    field_.max_bytes = field_.max_bytes / dtype_bytes(step.from) * dtype_bytes(step.to);
  field_.dtype = step.to;
  draft_.steps.push_back(std::move(step));
}

void Plan::add_affine(std::vector<float> a, std::vector<float> b) {
  if (a.size() > 1) {
    if (draft_.padding)
      end_draft();  // a lost shape needs no check: the operator that restored the channels has ended the draft
    if (!draft_.image && !draft_.frame && !draft_.channels) draft_.channels = channels();
  }
  if (!scales_.empty()) scales_.resize(std::max(scales_.size(), a.size()), scales_[0]);
  for (size_t i = 0; i < scales_.size(); ++i) {
    const double factor = static_cast<double>(a[i % a.size()]);
    scales_[i] = {scales_[i].a * factor, scales_[i].b * factor + static_cast<double>(b[i % b.size()])};
  }
  push_step({field_.dtype, DType::kF32, true, std::move(a), std::move(b)});
  pixels_ = false;
}

void Plan::add_reshape(std::vector<int64_t> shape, std::string axes) {
  field_.shape = std::move(shape);
  field_.axes = std::move(axes);
  if (draft_.image || draft_.frame || draft_.channels) draft_.shape_lost = true;
}

ImagePlan& Plan::image_draft(const ImageShape& image) {
  if (draft_.padding || draft_.frame || draft_.shape_lost) end_draft();
  if (!draft_.image) {
    draft_.image.emplace();
    draft_.image->input = draft_.image->output = image;
  }
  return *draft_.image;
}

void Plan::set_image(const ImageShape& image) {
  const bool flat = field_.axes == "HW" || (field_.axes.empty() && field_.shape.size() == 2);
  if (flat && image.channels == 1) {
    field_.shape = {image.height, image.width};
    field_.axes = "HW";
  } else if (image.layout == ImageLayout::kPlanar) {
    field_.shape = {image.channels, image.height, image.width};
    field_.axes = "CHW";
  } else {
    field_.shape = {image.height, image.width, image.channels};
    field_.axes = "HWC";
  }
}

void Plan::add_geometry(const GeometryStep& step, const ImageShape& image, std::vector<std::byte> fill) {
  if (in_frame() && fill.empty()) return add_view(step);
  // Padding has the values of the field as it is now: it must come before all element steps of its pass, and a pass has
  // one padding at most.
  if (!fill.empty() && (!draft_.steps.empty() || (draft_.image && !draft_.image->fill.empty()))) end_draft();
  ImagePlan& plan = image_draft(image);
  plan.steps.push_back(step);
  plan.steps.back().place = place_;
  if (!fill.empty()) plan.fill = std::move(fill);
  const FrameShape now = step.shape({image.height, image.width, image.channels});
  plan.output.height = now.height;
  plan.output.width = now.width;
  set_image({image.layout, image.channels, now.height, now.width});
}

void Plan::add_layout(const ImageShape& image, ImageLayout layout) {
  ImageShape now = image;
  now.layout = layout;
  // With one channel both layouts are the same bytes.
  if (in_frame())
    draft_.frame->planar_output = layout == ImageLayout::kPlanar;
  else if (image.layout != layout && image.channels != 1)
    image_draft(image).output.layout = layout;
  field_.axes = layout == ImageLayout::kPlanar ? "CHW" : "HWC";
  field_.shape.resize(3);
  set_image(now);
}

void Plan::pad(int64_t length, int64_t elements, std::vector<std::byte> element) {
  if (draft_.image || draft_.frame || draft_.padding) end_draft();
  draft_.padding = Padding{elements, draft_.steps.size(), std::move(element)};
  field_.kind = FieldKind::kDense;
  field_.shape[0] = length;
  field_.max_bytes = -1;
}

void Plan::add_padding(int64_t length, std::vector<std::byte> element) {
  pad(length, length * elements_of(field_, 1), std::move(element));
}

void Plan::add_bucket_padding(std::vector<std::byte> element) {
  pad(-1, -1, std::move(element));
  field_.to_bucket = true;
}

void Plan::add_pass(PassRef pass, bool draws) {
  end_draft();
  BuiltPass made;
  made.output = field_;
  made.draws = draws;
  made.pass = std::move(pass);
  passes_.push_back(std::move(made));
  begin_draft();
}

void Plan::replace(PassRef pass, Field output, Made made) {
  end_draft();
  field_ = std::move(output);
  pixels_ = made.pixels && may_be_pixels(field_.dtype);
  scales_.assign(pixels_ ? 1 : 0, {});
  add_pass(std::move(pass), made.draws);
}

// The padding element after the steps that follow it. None of them differs by channel.
std::vector<std::byte> Plan::padded_element(const Padding& padding) const {
  const std::vector<ElementStep> after(draft_.steps.begin() + static_cast<int64_t>(padding.step),
                                       draft_.steps.end());
  const DType dtype = after.empty() ? field_.dtype : after.front().from;
  const ElementChain chain(after, dtype, SimdTarget::kPlain);
  std::vector<std::byte> scratch(static_cast<size_t>(chain.scratch_bytes()));
  std::vector<std::byte> out(static_cast<size_t>(dtype_bytes(chain.output())));
  chain.run(padding.element.data(), out.data(), 1, 0, scratch.data());
  return out;
}

void Plan::end_draft() {
  ElementChain chain(draft_.steps, draft_.input.dtype, target_);
  const bool moves = draft_.image && (!draft_.image->steps.empty() ||
                                      draft_.image->input.layout != draft_.image->output.layout);
  BuiltPass made;
  made.input = std::move(draft_.input);
  made.output = field_;
  if (draft_.frame)
    end_frame(std::move(chain), made);
  else if (moves)
    end_image(std::move(chain), made);
  else if (!chain.empty() || draft_.padding)
    end_flat(std::move(chain), made);
  made.steps = std::move(draft_.steps);
  if (made.frame || made.pass) passes_.push_back(std::move(made));
  begin_draft();
}

void Plan::end_image(ElementChain chain, BuiltPass& made) {
  made.image = std::move(draft_.image);
  made.draws = draws(made.image->steps);
  ImagePlan image = *made.image;
  image.chain = std::move(chain);
  made.pass = std::make_shared<ImagePass>(std::move(image), target_);
}

void Plan::end_flat(ElementChain chain, BuiltPass& made) {
  FlatPlan flat;
  flat.chain = std::move(chain);
  flat.item_elements = std::max<int64_t>(draft_.item_elements, 1);
  if (draft_.channels) flat.channels = *draft_.channels;
  if (draft_.image)
    flat.channels = {draft_.image->input.channels,
                     draft_.image->input.layout == ImageLayout::kPlanar ? draft_.image->input.pixels() : 1};
  if (draft_.padding) {
    flat.padded_elements = draft_.padding->elements;
    flat.pads_to_room = field_.to_bucket;
    flat.padding = padded_element(*draft_.padding);
  }
  const auto pass = std::make_shared<const FlatPass>(std::move(flat));
  if (!draft_.padding) made.flat = pass;
  made.pass = pass;
}

}  // namespace dataline
