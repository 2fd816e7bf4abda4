// What a finished plan becomes: a program, or a program split for a device, which can run an ImagePass or FlatPass whose
// elements need at most a cast to f32, affine maps, and a cast to the delivered type. Other passes stay on the host.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "core/transform/passes/pass.h"
#include "core/transform/plan/plan.h"

namespace dataline {
namespace {

bool can_deliver(DType dtype) {
  return dtype == DType::kF32 || dtype == DType::kF16 || dtype == DType::kBf16 || dtype == DType::kI64;
}
bool can_read(DType dtype) {
  return can_deliver(dtype) || dtype == DType::kU8 || dtype == DType::kU16 || dtype == DType::kI32;
}

// The types and affine maps of a chain of the form affine* [cast]; nothing for other chains.
std::optional<Tail> element_tail(DType input, const std::vector<ElementStep>& steps) {
  Tail out;
  out.from = out.to = input;
  const std::vector<ElementStep> chain = simplified(steps);
  for (size_t i = 0; i < chain.size(); ++i) {
    if (!chain[i].affine && i + 1 < chain.size()) return std::nullopt;
    if (chain[i].affine) out.affines.push_back({chain[i].a, chain[i].b});
    out.to = chain[i].to;
  }
  if (!chain.empty() && !(can_read(out.from) && can_deliver(out.to))) return std::nullopt;
  return out;
}

std::optional<Tail> image_tail(const ImagePlan& plan, DType input, const std::vector<ElementStep>& steps) {
  const auto sides = {plan.input.height, plan.input.width, plan.output.height, plan.output.width};
  if (std::min(sides) < 1 || std::max(sides) > kMaxTailSide || plan.input.channels < 1) return std::nullopt;
  std::optional<Tail> out = element_tail(input, steps);
  if (!out) return std::nullopt;
  out->moves = true;
  out->channels = plan.input.channels;
  out->in_height = plan.input.height;
  out->in_width = plan.input.width;
  out->out_height = plan.output.height;
  out->out_width = plan.output.width;
  out->in_planar = plan.input.layout == ImageLayout::kPlanar;
  out->out_planar = plan.output.layout == ImageLayout::kPlanar;
  out->fill = plan.fill;
  out->geometry = draws(plan.steps);
  // Without draws, every key gives the same view.
  if (!out->geometry) out->view = narrow_view(compose_view(plan.steps, plan.input, 0, 0));
  return out;
}

// `input`: the field before the pass, which keeps the elements' order and does not pad.
std::optional<Tail> flat_tail(const Field& input, const Channels& channels,
                              const std::vector<ElementStep>& steps) {
  if (input.kind != FieldKind::kDense || steps.empty()) return std::nullopt;
  const int64_t elements = input.bytes() / dtype_bytes(input.dtype);
  if (elements < 1) return std::nullopt;
  std::optional<Tail> out = element_tail(input.dtype, steps);
  if (!out) return std::nullopt;
  const bool by_channel = std::any_of(out->affines.begin(), out->affines.end(),
                                      [](const TailAffine& affine) { return affine.a.size() > 1; });
  if (by_channel) {
    out->channels = channels.count;
    out->in_planar = out->out_planar = channels.inner > 1;
    out->images = channels.inner > 1 ? elements / (channels.count * channels.inner) : 1;
  }
  out->in_width = out->out_width = elements / (out->images * out->channels);
  return out;
}

}  // namespace

std::unique_ptr<const Program> Plan::program_of(const std::vector<BuiltPass>& passes, Field output,
                                                std::vector<PixelScale> scales) const {
  ProgramOutput made_output{.field = std::move(output), .scales = std::move(scales)};
  if (passes.empty()) return make_copy_program(input_, std::move(made_output), target_);
  if (passes.size() == 1 && passes[0].flat && input_.kind == FieldKind::kDense)
    return make_flat_program(input_, std::move(made_output), passes[0].flat, target_);
  std::vector<PassRef> list;
  std::vector<int64_t> bytes;
  std::vector<std::string> texts(passes.size());
  for (const OperatorText& written : written_) {
    if (written.pass < texts.size()) append_operator(texts[written.pass], written.text);
  }
  for (const BuiltPass& made : passes) {
    made_output.draws |= made.draws;
    list.push_back(made.frame ? std::make_shared<FramePass>(*made.frame, target_) : made.pass);
    const int64_t limit = settings_->max_bytes_per_sample;
    const int64_t most = made.output.max_bytes >= 0 ? std::min(made.output.max_bytes, limit) : limit;
    bytes.push_back(made.output.kind == FieldKind::kRagged ? most : made.output.bytes());
  }
  return make_pass_program(input_, std::move(made_output), std::move(list), bytes, texts);
}

void Plan::finish() {
  // Delivered bools are 0 or 1, even if a file, an array or a reader holds other bytes: in Rust and C++ those are undefined
  // behaviour. A cast from bool does this by itself.
  if (input_.dtype == DType::kBool && field_.dtype == DType::kBool)
    push_step({.from = DType::kBool, .to = DType::kBool, .a = {}, .b = {}});
  end_draft();
}

std::unique_ptr<const Program> Plan::program() const { return program_of(passes_, field_, scales_); }

// Reduces the frame to what the host does: pixels of one size, HWC. The rest is the tail; nothing, with `made` unchanged,
// if there is none.
std::optional<Tail> Plan::split_frame(BuiltPass& made) const {
  FramePlan frame = *made.frame;
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
  made.frame = std::make_shared<FramePlan>(std::move(frame));
  return tail;
}

std::optional<DeviceSplit> Plan::split() const {
  if (passes_.empty()) return std::nullopt;
  std::vector<BuiltPass> host = passes_;
  BuiltPass& last = host.back();
  DeviceSplit out;
  std::optional<Tail> tail;
  if (last.frame)
    tail = split_frame(last);
  else if (last.image)
    tail = image_tail(*last.image, last.input.dtype, last.steps);
  else if (last.flat)
    tail = flat_tail(last.input, last.flat->channels(), last.steps);
  if (!tail) return std::nullopt;
  out.tail = std::move(*tail);
  for (const OperatorText& written : written_) {
    std::string& text = written.pixels || written.pass + 1 < passes_.size() ? out.host_text : out.device_text;
    append_operator(text, written.text);
  }
  if (out.tail.geometry)
    out.geometry = make_geometry_program(field_.name, last.image->steps, last.image->input);
  if (!last.frame) host.pop_back();
  if (!host.empty()) out.host = program_of(host, host.back().output, {});
  return out;
}

std::string Plan::text() const {
  std::string out;
  for (const OperatorText& written : written_) append_operator(out, written.text);
  return out;
}

}  // namespace dataline
