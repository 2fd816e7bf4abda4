// SPDX-License-Identifier: Apache-2.0
#include "core/transform/color/blur.h"
#include "core/transform/operators/checks.h"
#include "core/transform/operators/stages.h"

namespace dataline {
namespace {

enum Argument : size_t { kKernel, kSigma };
constexpr OperatorArgument kArguments[] = {{"kernel", "integer or list", ""},
                                           {"sigma", "number or list", "[0.1, 2]"}};

Status add(const Arguments& arguments, Plan& plan) {
  DL_ASSIGN_OR_RETURN(const FrameShape shape, want_frame(arguments, plan));
  DL_ASSIGN_OR_RETURN(const std::vector<int64_t> sides, arguments.integers(kKernel, 1, BlurSide::kMax));
  if (sides.size() > 2 || sides.front() % 2 == 0 || sides.back() % 2 == 0)
    return arguments.fault_at(kKernel, "expected an odd number, or [width, height] of two, got ",
                              arguments.text_of(kKernel));
  GaussianBlur blur;
  blur.width = sides.front();
  blur.height = sides.back();
  if (shape.fixed() && (blur.width / 2 >= shape.width || blur.height / 2 >= shape.height))
    return arguments.fault_at(kKernel, "expected half of it below the sides of the image, ", shape.height,
                              "x", shape.width, ", got ", arguments.text_of(kKernel));
  DL_ASSIGN_OR_RETURN(const std::vector<double> ends, arguments.numbers(kSigma));
  constexpr double kMin = 1e-3, kMax = 1e6;
  if (ends.size() > 2 || !(ends.front() >= kMin && ends.front() <= ends.back() && ends.back() <= kMax))
    return arguments.fault_at(kSigma,
                              "expected a number of pixels from 0.001 on, or two, the smaller first, got ",
                              arguments.text_of(kSigma));
  blur.sigma = {ends.front(), ends.back()};
  plan.add_stage(make_gaussian_blur(blur, color_kernels(plan.target())));
  return Status::ok();
}

}  // namespace

FrameStageRef make_gaussian_blur(const GaussianBlur& plan, const ColorKernels& kernels) {
  return make_stage(plan.sigma.low < plan.sigma.high, [plan, kernels](const Draws& draws,
                                                                      FrameScratch& scratch, Frame& frame) {
    const double sigma = draws.uniform(0, plan.sigma);
    return blur(kernels, gaussian_side(plan.width, sigma), gaussian_side(plan.height, sigma), scratch, frame);
  });
}

const Operator gaussian_blur_operator = {
    {"gaussian_blur", kArguments,
     "Blurs with a kernel of odd size (or [width, height]) and a sigma in pixels, drawn from the range if it "
     "is one. The image is reflected at its borders.",
     "torchvision.transforms.v2.GaussianBlur", "0.1"},
    add};

}  // namespace dataline
