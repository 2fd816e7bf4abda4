// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include "core/transform/color/adjust.h"
#include "core/transform/operators/checks.h"
#include "core/transform/operators/stages.h"

namespace dataline {
namespace {

enum Argument : size_t { kBrightness, kContrast, kSaturation, kHue };
constexpr OperatorArgument kArguments[] = {{"brightness", "number or list", "none", "b"},
                                           {"contrast", "number or list", "none", "c"},
                                           {"saturation", "number or list", "none", "s"},
                                           {"hue", "number or list", "none", "h"}};
constexpr double kMaxHue = 0.5;

constexpr int kParts = 4;

void adjust(int part, double factor, const ColorKernels& kernels, Frame& frame) {
  if (part == 0) adjust_brightness(factor, frame);
  if (part == 1) adjust_contrast(kernels, factor, frame);
  if (part == 2) adjust_saturation(kernels, factor, frame);
  if (part == 3) adjust_hue(kernels, factor, frame);
}

// A number is how far a factor may be from `center`, a list its range. Nothing if it is always `center`.
Result<std::optional<Range>> factor_argument(const Arguments& arguments, size_t index) {
  if (!arguments.given(index)) return std::optional<Range>();
  const bool hue = index == kHue;
  const double center = hue ? 0 : 1, low = hue ? -kMaxHue : 0, high = hue ? kMaxHue : kMaxFactor;
  DL_ASSIGN_OR_RETURN(const std::vector<double> numbers, arguments.numbers(index));
  Range range;
  if (numbers.size() == 1) {
    DL_ASSIGN_OR_RETURN(const double away, bounded_argument(arguments, index, 0, high));
    range = {std::max(center - away, low), center + away};
  } else {
    DL_ASSIGN_OR_RETURN(range, bounds_argument(arguments, index, low, high));
  }
  if (range.low == center && range.high == center) return std::optional<Range>();
  return std::optional<Range>(range);
}

Status add(const Arguments& arguments, Plan& plan) {
  DL_ASSIGN_OR_RETURN([[maybe_unused]] const FrameShape shape, want_colors(arguments, plan));
  bool any = false;
  for (const size_t index : {kBrightness, kContrast, kSaturation, kHue}) any |= arguments.given(index);
  if (!any) return arguments.fault("expected brightness=, contrast=, saturation= or hue=, got none");
  ColorJitter jitter;
  DL_ASSIGN_OR_RETURN(jitter.brightness, factor_argument(arguments, kBrightness));
  DL_ASSIGN_OR_RETURN(jitter.contrast, factor_argument(arguments, kContrast));
  DL_ASSIGN_OR_RETURN(jitter.saturation, factor_argument(arguments, kSaturation));
  DL_ASSIGN_OR_RETURN(jitter.hue, factor_argument(arguments, kHue));
  plan.add_stage(make_color_jitter(jitter, color_kernels(plan.target())));
  return Status::ok();
}

}  // namespace

std::array<int, 4> jitter_order(const Draws& draws) {
  std::array<int, kParts> order{0, 1, 2, 3};
  for (int i = kParts - 1; i > 0; --i)
    std::swap(order[static_cast<size_t>(i)], order[static_cast<size_t>(draws.below(kParts - 1 - i, i + 1))]);
  return order;
}

FrameStageRef make_color_jitter(const ColorJitter& jitter, const ColorKernels& kernels) {
  const std::array<std::optional<Range>, kParts> ranges{jitter.brightness, jitter.contrast, jitter.saturation,
                                                        jitter.hue};
  // Draws even with four fixed factors: their order.
  return make_stage(true, [ranges, kernels](const Draws& draws, FrameScratch&, Frame& frame) {
    for (const int part : jitter_order(draws)) {
      const std::optional<Range>& range = ranges[static_cast<size_t>(part)];
      if (range) adjust(part, draws.uniform(kParts - 1 + part, *range), kernels, frame);
    }
    return Status::ok();
  });
}

const Operator color_jitter_operator = {
    {"color_jitter", kArguments,
     "Brightness, contrast and saturation times a random factor, hue turned by a random part of the circle, "
     "in random order. A number is how far from 1 (hue: 0) a factor may be, a list of two its range. Also b, "
     "c, s, h.",
     "torchvision.transforms.v2.ColorJitter", "0.1"},
    add};

}  // namespace dataline
