// color_jitter and gaussian_blur: their strength is drawn from a range.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include "core/base/text.h"
#include "core/transform/color/adjust.h"
#include "core/transform/operators/operator.h"
#include "core/transform/operators/stages.h"

namespace dataline {
namespace {

enum JitterArgument : size_t { kBrightness, kContrast, kSaturation, kHue };
constexpr OperatorArgument kJitterArguments[] = {{"brightness", "number or list", "none", "b"},
                                                 {"contrast", "number or list", "none", "c"},
                                                 {"saturation", "number or list", "none", "s"},
                                                 {"hue", "number or list", "none", "h"}};
constexpr OperatorArgument kBlurArguments[] = {{"kernel", "integer or list", ""},
                                               {"sigma", "number or list", "[0.1, 2]"}};

constexpr double kMaxHue = 0.5;

void adjust(size_t part, double factor, const ColorKernels& kernels, Frame& frame) {
  if (part == kBrightness) adjust_brightness(factor, frame);
  if (part == kContrast) adjust_contrast(kernels, factor, frame);
  if (part == kSaturation) adjust_saturation(kernels, factor, frame);
  if (part == kHue) adjust_hue(kernels, factor, frame);
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

Status add_color_jitter(const Arguments& arguments, Plan& plan) {
  DL_ASSIGN_OR_RETURN([[maybe_unused]] const FrameShape shape, want_colors(arguments, plan));
  bool any = false;
  for (const size_t index : {kBrightness, kContrast, kSaturation, kHue}) any |= arguments.given(index);
  if (!any) return arguments.fault("expected brightness=, contrast=, saturation= or hue=, got none");
  ColorJitter jitter;
  for (const size_t index : {kBrightness, kContrast, kSaturation, kHue}) {
    DL_ASSIGN_OR_RETURN(jitter[index], factor_argument(arguments, index));
  }
  plan.add_stage(make_color_jitter(jitter, color_kernels(plan.target())));
  return Status::ok();
}

Status add_gaussian_blur(const Arguments& arguments, Plan& plan) {
  enum Argument : size_t { kKernel, kSigma };
  DL_ASSIGN_OR_RETURN(const FrameShape shape, want_frame(arguments, plan));
  DL_ASSIGN_OR_RETURN(const std::vector<int64_t> sides, arguments.integers(kKernel, 1, BlurSide::kMax));
  if (sides.size() > 2 || sides.front() % 2 == 0 || sides.back() % 2 == 0)
    return arguments.expected(kKernel, "an odd number, or [width, height] of two");
  GaussianBlur blur;
  blur.width = sides.front();
  blur.height = sides.back();
  if (shape.fixed() && (blur.width / 2 >= shape.width || blur.height / 2 >= shape.height))
    return arguments.expected(kKernel, "less than twice the sides of the image, ",
                              picture_size(shape.height, shape.width));
  DL_ASSIGN_OR_RETURN(const std::vector<double> ends, arguments.numbers(kSigma));
  constexpr double kMin = 1e-3, kMax = 1e6;
  if (ends.size() > 2 || !(ends.front() >= kMin && ends.front() <= ends.back() && ends.back() <= kMax))
    return arguments.expected(kSigma, "a number of pixels of at least 0.001, or two, the smaller first");
  blur.sigma = {ends.front(), ends.back()};
  plan.add_stage(make_gaussian_blur(blur, color_kernels(plan.target())));
  return Status::ok();
}

}  // namespace

std::array<size_t, 4> jitter_order(const Draws& draws) {
  std::array<size_t, 4> order{kBrightness, kContrast, kSaturation, kHue};
  for (int64_t i = 3; i > 0; --i)
    std::swap(order[static_cast<size_t>(i)], order[static_cast<size_t>(draws.below(3 - i, i + 1))]);
  return order;
}

FrameStage make_color_jitter(const ColorJitter& jitter, const ColorKernels& kernels) {
  // Draws even with four fixed factors: their order.
  return {true, [jitter, kernels](const Draws& draws, FrameScratch&, Frame& frame) {
            for (const size_t part : jitter_order(draws)) {
              const int64_t number = 3 + static_cast<int64_t>(part);
              if (jitter[part]) adjust(part, draws.uniform(number, *jitter[part]), kernels, frame);
            }
            return Status::ok();
          }};
}

FrameStage make_gaussian_blur(const GaussianBlur& plan, const ColorKernels& kernels) {
  const auto apply = [plan, kernels](const Draws& draws, FrameScratch& scratch, Frame& frame) {
    const double sigma = draws.uniform(0, plan.sigma);
    return blur(kernels, gaussian_side(plan.width, sigma), gaussian_side(plan.height, sigma), scratch, frame);
  };
  return {plan.sigma.low < plan.sigma.high, apply};
}

const Operator color_jitter_operator = {
    {"color_jitter", kJitterArguments,
     "Multiplies brightness, contrast and saturation by random factors, and rotates the hue by a random part "
     "of the circle, in random order. A number limits the distance of a factor from 1 (hue: from 0); a list "
     "of two is its range. Also b, c, s, h.",
     "torchvision.transforms.v2.ColorJitter", "0.1"},
    add_color_jitter};
const Operator gaussian_blur_operator = {
    {"gaussian_blur", kBlurArguments,
     "Blurs with a kernel of odd size (or [width, height]) and a sigma in pixels, drawn from the range if it "
     "is one. The image is reflected at its borders.",
     "torchvision.transforms.v2.GaussianBlur", "0.1"},
    add_gaussian_blur};

}  // namespace dataline
