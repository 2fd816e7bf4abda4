// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include "core/transform/color/adjust.h"
#include "core/transform/color/stages.h"
#include "core/transform/operators/color_checks.h"

namespace dataline {
namespace {

enum Argument : size_t { kBrightness, kContrast, kSaturation, kHue };
constexpr double kMostHue = 0.5;

// A number is how far from `center` a factor may be, a list its range. Nothing when it is always `center`.
Result<std::optional<FactorRange>> factor_argument(const Arguments& arguments, size_t index) {
  if (!arguments.given(index)) return std::optional<FactorRange>();
  const bool hue = index == kHue;
  const double center = hue ? 0 : 1, low = hue ? -kMostHue : 0, high = hue ? kMostHue : kMostFactor;
  DL_ASSIGN_OR_RETURN(const std::vector<double> numbers, arguments.numbers(index));
  Range range;
  if (numbers.size() == 1) {
    DL_ASSIGN_OR_RETURN(const double away, bounded_argument(arguments, index, 0, high));
    range = {std::max(center - away, low), center + away};
  } else {
    DL_ASSIGN_OR_RETURN(range, bounds_argument(arguments, index, low, high));
  }
  if (range.low == center && range.high == center) return std::optional<FactorRange>();
  return std::optional<FactorRange>({range.low, range.high});
}

}  // namespace

Status add_color_jitter(const Arguments& arguments, Plan& plan) {
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

}  // namespace dataline
