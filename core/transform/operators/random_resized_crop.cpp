// SPDX-License-Identifier: Apache-2.0
#include "core/transform/operators/checks.h"

namespace dataline {
namespace {

enum Argument : size_t { kSize, kScale, kRatio, kFilter, kAntialias };
constexpr OperatorArgument kArguments[] = {
    {"size", "integer or list", ""},
    {"scale", "list", "[0.08, 1]"},
    {"ratio", "list", "[3/4, 4/3]"},  // for people: the value is that of ViewStep
    kFilterArgument,
    {"antialias", "true or false", "true"}};

Status add(const Arguments& arguments, Plan& plan) {
  DL_ASSIGN_OR_RETURN(const FrameShape shape, want_frame(arguments, plan));
  DL_ASSIGN_OR_RETURN(const Size size, size_argument(arguments, kSize));
  ViewStep step;
  step.kind = ViewStep::Kind::kRandomResizedCrop;
  step.height = size.height;
  step.width = size.width;
  DL_ASSIGN_OR_RETURN(const Range scale, range_argument(arguments, kScale));
  step.scale_low = scale.low;
  step.scale_high = scale.high;
  if (arguments.given(kRatio)) {
    DL_ASSIGN_OR_RETURN(const Range ratio, range_argument(arguments, kRatio));
    step.ratio_low = ratio.low;
    step.ratio_high = ratio.high;
  }
  DL_ASSIGN_OR_RETURN(step.filter, filter_argument(arguments, kFilter));
  DL_ASSIGN_OR_RETURN(step.antialias, arguments.boolean(kAntialias));
  DL_RETURN_IF_ERROR(want_countable(arguments, {size.height, size.width, shape.channels}));
  plan.add_view(step);
  return Status::ok();
}

}  // namespace

const Operator random_resized_crop_operator = {
    {"random_resized_crop", kArguments,
     "A random part of the image, scale of its area and ratio of width to height drawn from the ranges, "
     "scaled to size (or [height, width]).",
     "torchvision.transforms.v2.RandomResizedCrop", "0.1"},
    add};

}  // namespace dataline
