// SPDX-License-Identifier: Apache-2.0
#include <utility>
#include <vector>

#include "core/transform/operators/padding.h"

namespace dataline {
namespace {

enum Argument : size_t { kSize, kPadding, kFill, kMode };
constexpr OperatorArgument kArguments[] = {
    {"size", "integer or list", ""}, {"padding", "integer or list", "0"}, kFillArgument, kPadModeArgument};

Status want_crop_inside(const Arguments& arguments, const Size& size, const Padding& padding, int64_t height,
                        int64_t width) {
  return want_inside(arguments, kSize, size, padding.top + height + padding.bottom,
                     padding.left + width + padding.right, "the image with its padding");
}

Status add_padding_stage(const Arguments& arguments, Plan& plan, Padding padding) {
  DL_ASSIGN_OR_RETURN(const FrameShape shape, want_frame(arguments, plan));
  DL_ASSIGN_OR_RETURN(padding.fill, fill_argument(arguments, kFill, shape.channels));
  if (shape.fixed()) {
    Status fits = padding.fits(shape.height, shape.width);
    if (!fits.is_ok()) return arguments.fault_at(kPadding, fits.message());
  }
  plan.add_stage(make_pad(padding));
  return Status::ok();
}

// In a frame: the padding, if any, is a stage and the crop is a view. In a frame whose size varies, a crop that is too
// large is an error of the record.
Status add_random_view(const Arguments& arguments, Plan& plan, const Size& size, const Padding& padding) {
  const FrameShape shape = frame_of(plan);
  if (shape.fixed())
    DL_RETURN_IF_ERROR(want_crop_inside(arguments, size, padding, shape.height, shape.width));
  DL_RETURN_IF_ERROR(want_countable(arguments, {size.height, size.width, shape.channels}));
  if (padding.any()) DL_RETURN_IF_ERROR(add_padding_stage(arguments, plan, padding));
  ViewStep step;
  step.kind = ViewStep::Kind::kRandomCrop;
  step.height = size.height;
  step.width = size.width;
  plan.add_view(step);
  return Status::ok();
}

// On raw tensors of any type: one crop, which makes its constant padding as it copies.
Status add_random_geometry(const Arguments& arguments, Plan& plan, const Size& size, const Padding& padding,
                           const ImageShape& image) {
  DL_RETURN_IF_ERROR(want_countable(arguments, {size.height, size.width, image.channels}));
  DL_ASSIGN_OR_RETURN(std::vector<std::byte> fill,
                      arguments.elements(kFill, plan.field().dtype, image.channels));
  GeometryStep step;
  step.kind = GeometryStep::Kind::kCrop;
  step.random = true;
  step.height = size.height;
  step.width = size.width;
  step.pad_left = padding.left;
  step.pad_top = padding.top;
  step.pad_right = padding.right;
  step.pad_bottom = padding.bottom;
  plan.add_geometry(step, image, padding.any() ? std::move(fill) : std::vector<std::byte>());
  return Status::ok();
}

Status add(const Arguments& arguments, Plan& plan) {
  DL_RETURN_IF_ERROR(want_decoded(arguments, plan));
  DL_ASSIGN_OR_RETURN(const Size size, size_argument(arguments, kSize));
  DL_ASSIGN_OR_RETURN(const Padding padding, padding_argument(arguments, {kPadding, kFill, kMode}));
  const bool pads_frames = plan.in_pixels() && plan.field().dtype == DType::kU8;
  if (plan.in_frame() && (pads_frames || !padding.any()))
    return add_random_view(arguments, plan, size, padding);
  DL_ASSIGN_OR_RETURN(const ImageShape image, want_image(arguments, plan));
  DL_RETURN_IF_ERROR(want_crop_inside(arguments, size, padding, image.height, image.width));
  if (padding.any() && padding.mode != PadMode::kConstant)
    return add_random_view(arguments, plan, size, padding);
  return add_random_geometry(arguments, plan, size, padding, image);
}

}  // namespace

const Operator random_crop_operator = {
    {"random_crop", kArguments,
     "Pads the image on all sides, then takes size (or [height, width]) anywhere in it. Padding: "
     "all sides, [left and right, top and bottom] or [left, top, right, bottom]; by mode it is fill, or "
     "pixels "
     "of the image.",
     "torchvision.transforms.v2.RandomCrop", "0.1"},
    add};

}  // namespace dataline
