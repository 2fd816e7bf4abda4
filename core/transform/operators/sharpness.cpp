// SPDX-License-Identifier: Apache-2.0
#include "core/transform/color/adjust.h"
#include "core/transform/color/maybe_stage.h"
#include "core/transform/operators/color_checks.h"

namespace dataline {
namespace {
enum Argument : size_t { kFactor, kProbability };
constexpr double kDefaultProbability = 0.5;
}  // namespace

Status add_sharpness(const Arguments& arguments, Plan& plan) {
  DL_ASSIGN_OR_RETURN([[maybe_unused]] const FrameShape shape, want_colors(arguments, plan));
  DL_ASSIGN_OR_RETURN(const double factor, bounded_argument(arguments, kFactor, 0, kMostFactor));
  DL_ASSIGN_OR_RETURN(const double probability,
                      probability_argument(arguments, kProbability, kDefaultProbability));
  const ColorKernels kernels = color_kernels(plan.target());
  plan.add_stage(make_maybe(probability, [kernels, factor](FrameScratch& scratch, Frame& frame) {
    return adjust_sharpness(kernels, factor, scratch, frame);
  }));
  return Status::ok();
}

}  // namespace dataline
