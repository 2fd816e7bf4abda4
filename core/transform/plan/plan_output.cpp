// What a finished plan becomes: a program, or a program split for a device.
// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "core/transform/passes/programs.h"
#include "core/transform/plan/device_tail.h"
#include "core/transform/plan/plan.h"

namespace dataline {
namespace {

void append(std::string& list, std::string_view text) {
  if (!list.empty()) list += ", ";
  list += text;
}

}  // namespace

std::unique_ptr<const Program> Plan::program_of(const std::vector<BuiltPass>& passes, Field output,
                                                std::vector<PixelScale> scales) const {
  ProgramOutput made_output{.field = std::move(output), .scales = std::move(scales)};
  if (passes.empty()) return make_copy_program(input_, std::move(made_output), target_);
  if (passes.size() == 1 && input_.kind == FieldKind::kDense) {
    auto flat = std::dynamic_pointer_cast<const FlatPass>(passes[0].pass);
    if (flat != nullptr && flat->plan().padded_elements < 0)
      return make_flat_program(input_, std::move(made_output), std::move(flat), target_);
  }
  std::vector<PassRef> list;
  std::vector<int64_t> bytes;
  for (const BuiltPass& made : passes) {
    made_output.draws |= made.draws;
    list.push_back(made.frame ? std::make_shared<FramePass>(*made.frame, target_) : made.pass);
    bytes.push_back(made.output.bytes());
  }
  return make_pass_program(input_, std::move(made_output), std::move(list), bytes);
}

// Delivered bools are 0 or 1, even if a file, an array or a reader holds other bytes: in Rust and C++ those are undefined
// behaviour. A cast from bool does this by itself.
void Plan::canonicalize_bools() {
  if (input_.dtype != DType::kBool || field_.dtype != DType::kBool) return;
  push_step({.from = DType::kBool, .to = DType::kBool, .a = {}, .b = {}});
}

void Plan::finish() {
  canonicalize_bools();
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
  std::optional<Tail> tail = last.frame ? split_frame(last) : last.tail;
  if (!tail) return std::nullopt;
  out.tail = std::move(*tail);
  for (const OperatorText& written : written_) {
    std::string& text = written.pixels || written.pass + 1 < passes_.size() ? out.host_text : out.device_text;
    append(text, written.text);
  }
  if (out.tail.geometry) out.geometry = make_geometry_program(field_.name, last.geometry, last.image);
  if (!last.frame) host.pop_back();
  if (!host.empty()) out.host = program_of(host, host.back().output, {});
  return out;
}

std::string Plan::text() const {
  std::string out;
  for (const OperatorText& written : written_) append(out, written.text);
  return out;
}

}  // namespace dataline
