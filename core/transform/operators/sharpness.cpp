// SPDX-License-Identifier: Apache-2.0
#include "core/transform/color/adjust.h"
#include "core/transform/operators/checks.h"

namespace dataline {
namespace {

enum Argument : size_t { kFactor, kProbability };
constexpr OperatorArgument kArguments[] = {{"factor", "number", ""}, kProbabilityArgument};

Status add(const Arguments& arguments, Plan& plan) {
  DL_ASSIGN_OR_RETURN([[maybe_unused]] const FrameShape shape, want_colors(arguments, plan));
  DL_ASSIGN_OR_RETURN(const double factor, bounded_argument(arguments, kFactor, 0, kMaxFactor));
  DL_ASSIGN_OR_RETURN(const double probability, probability_argument(arguments, kProbability));
  const ColorKernels kernels = color_kernels(plan.target());
  plan.add_stage(make_maybe(probability, [kernels, factor](FrameScratch& scratch, Frame& frame) {
    return adjust_sharpness(kernels, factor, scratch, frame);
  }));
  return Status::ok();
}

}  // namespace

const Operator sharpness_operator = {
    {"sharpness", kArguments, "Blurred at factor 0, as it is at 1, sharper above; with probability p.",
     "torchvision.transforms.v2.RandomAdjustSharpness", "0.1"},
    add};

}  // namespace dataline
