// SPDX-License-Identifier: Apache-2.0
#include "core/transform/color/adjust.h"
#include "core/transform/color/maybe_stage.h"
#include "core/transform/color/stages.h"
#include "core/transform/operators/color_checks.h"

namespace dataline {
namespace {
enum Argument : size_t { kProbability, kChannels };
}

Status add_grayscale(const Arguments& arguments, Plan& plan) {
  DL_ASSIGN_OR_RETURN(const FrameShape shape, want_colors(arguments, plan));
  if (arguments.given(kProbability) == arguments.given(kChannels))
    return arguments.fault("expected p=, how often, or channels=, 1 or 3 of every image, got ",
                           arguments.given(kChannels) ? "both" : "none");
  const ColorKernels kernels = color_kernels(plan.target());
  if (arguments.given(kChannels)) {
    DL_ASSIGN_OR_RETURN(const int64_t channels, arguments.integer(kChannels, 1, 3));
    if (channels == 2)
      return arguments.fault_at(kChannels, "expected 1 or 3, got ", arguments.text_of(kChannels));
    plan.add_stage(make_grayscale(channels, kernels));
    return Status::ok();
  }
  DL_ASSIGN_OR_RETURN(const double probability, probability_argument(arguments, kProbability, 0));
  plan.add_stage(
      make_maybe(probability, [kernels, channels = shape.channels](FrameScratch& scratch, Frame& frame) {
        return make_gray(kernels, channels, scratch, frame);
      }));
  return Status::ok();
}

}  // namespace dataline
