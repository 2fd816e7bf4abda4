// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>

#include "core/transform/color/blur.h"
#include "core/transform/color/stages.h"
#include "core/transform/operators/checks.h"

namespace dataline {
namespace {
enum Argument : size_t { kKernel, kSigma };
}

Status add_gaussian_blur(const Arguments& arguments, Plan& plan) {
  DL_ASSIGN_OR_RETURN(const FrameShape shape, want_frame(arguments, plan));
  DL_ASSIGN_OR_RETURN(const std::vector<int64_t> sides, arguments.integers(kKernel, 1, BlurSide::kMost));
  if (sides.size() > 2 || sides.front() % 2 == 0 || sides.back() % 2 == 0)
    return arguments.fault_at(kKernel, "expected an odd number, or [width, height] of two, got ",
                              arguments.text_of(kKernel));
  GaussianBlur blur;
  blur.width = sides.front();
  blur.height = sides.back();
  if (shape.fixed() && (blur.width / 2 >= shape.width || blur.height / 2 >= shape.height))
    return arguments.fault_at(kKernel, "expected half of it below the sides of the image, ", shape.height,
                              "x", shape.width, ", got ", arguments.text_of(kKernel));
  if (arguments.given(kSigma)) {
    DL_ASSIGN_OR_RETURN(const std::vector<double> ends, arguments.numbers(kSigma));
    constexpr double kLeast = 1e-3, kMost = 1e6;
    if (ends.size() > 2 || !(ends.front() >= kLeast && ends.front() <= ends.back() && ends.back() <= kMost))
      return arguments.fault_at(kSigma,
                                "expected a number of pixels from 0.001 on, or two, the smaller first, got ",
                                arguments.text_of(kSigma));
    blur.sigma_low = ends.front();
    blur.sigma_high = ends.back();
  }
  plan.add_stage(make_gaussian_blur(blur, color_kernels(plan.target())));
  return Status::ok();
}

}  // namespace dataline
