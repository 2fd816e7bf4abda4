// SPDX-License-Identifier: Apache-2.0
#include "core/transform/plan/device_tail.h"

#include <algorithm>

#include "core/transform/passes/geometry.h"

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

}  // namespace

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

}  // namespace dataline
