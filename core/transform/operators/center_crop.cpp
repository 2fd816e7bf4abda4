// SPDX-License-Identifier: Apache-2.0
#include "core/transform/operators/checks.h"

namespace dataline {
namespace {

enum Argument : size_t { kSize };
constexpr OperatorArgument kArguments[] = {{"size", "integer or list", ""}};
constexpr std::string_view kImage = "the image";

// Half of the margin, rounded to even like Python's round() and so torchvision.
int64_t half(int64_t margin) { return margin % 2 == 0 ? margin / 2 : (margin + 1) / 4 * 2; }

// In a frame whose size varies, a crop that is too large is an error of the record.
Status add_view(const Arguments& arguments, Plan& plan) {
  const FrameShape shape = frame_of(plan);
  DL_ASSIGN_OR_RETURN(const Size size, size_argument(arguments, kSize));
  if (shape.fixed())
    DL_RETURN_IF_ERROR(want_inside(arguments, kSize, size, shape.height, shape.width, kImage));
  DL_RETURN_IF_ERROR(want_countable(arguments, {size.height, size.width, shape.channels}));
  ViewStep step;
  step.kind = ViewStep::Kind::kCenterCrop;
  step.height = size.height;
  step.width = size.width;
  plan.add_view(step);
  return Status::ok();
}

Status add(const Arguments& arguments, Plan& plan) {
  if (plan.in_frame()) return add_view(arguments, plan);
  DL_ASSIGN_OR_RETURN(const ImageShape image, want_image(arguments, plan));
  DL_ASSIGN_OR_RETURN(const Size size, size_argument(arguments, kSize));
  DL_RETURN_IF_ERROR(want_inside(arguments, kSize, size, image.height, image.width, kImage));
  GeometryStep step;
  step.kind = GeometryStep::Kind::kCrop;
  step.height = size.height;
  step.width = size.width;
  step.top = half(image.height - size.height);
  step.left = half(image.width - size.width);
  plan.add_geometry(step, image, {});
  return Status::ok();
}

}  // namespace

const Operator center_crop_operator = {
    {"center_crop", kArguments, "The middle of the image: size, or [height, width].",
     "torchvision.transforms.v2.CenterCrop", "0.1"},
    add};

}  // namespace dataline
