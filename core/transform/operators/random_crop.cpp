// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "core/base/text.h"
#include "core/transform/operators/checks.h"

namespace dataline {
namespace {

enum Argument : size_t { kSize, kPadding, kFill, kMode };

bool pads(const Padding& padding) {
  return std::max({padding.left, padding.top, padding.right, padding.bottom}) > 0;
}

Status want_inside(const Arguments& arguments, const Size& size, const Padding& padding, int64_t height,
                   int64_t width) {
  height += padding.top + padding.bottom;
  width += padding.left + padding.right;
  if (size.height <= height && size.width <= width) return Status::ok();
  return arguments.fault_at(kSize, "expected at most ", shape_text(std::vector{height, width}),
                            ", the image with its padding, got ",
                            shape_text(std::vector{size.height, size.width}));
}

Status add_borders(const Arguments& arguments, Plan& plan, Padding padding) {
  DL_ASSIGN_OR_RETURN(const FrameShape shape, want_frame(arguments, plan));
  DL_ASSIGN_OR_RETURN(const std::vector<std::byte> fill,
                      arguments.elements(kFill, DType::kU8, shape.channels));
  std::memcpy(padding.fill.data(), fill.data(), fill.size());
  if (shape.fixed()) {
    Status fits = padding.fits(shape.height, shape.width);
    if (!fits.is_ok()) return arguments.fault_at(kPadding, fits.message());
  }
  plan.add_stage(std::make_unique<PadStage>(padding));
  return Status::ok();
}

// In a frame: borders, where there are any, are a stage, and the crop is a view. Of images whose size varies, too large
// a crop is an error of the record.
Status add_random_view(const Arguments& arguments, Plan& plan, const Size& size, const Padding& padding) {
  const FrameShape shape = frame_of(plan);
  if (shape.fixed()) DL_RETURN_IF_ERROR(want_inside(arguments, size, padding, shape.height, shape.width));
  DL_RETURN_IF_ERROR(want_countable(arguments, {size.height, size.width, shape.channels}));
  if (pads(padding)) DL_RETURN_IF_ERROR(add_borders(arguments, plan, padding));
  ViewStep step;
  step.kind = ViewStep::Kind::kRandomCrop;
  step.height = size.height;
  step.width = size.width;
  plan.add_view(step);
  return Status::ok();
}

// Of pixels of any type: a crop whose constant borders are made on the way.
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
  plan.add_geometry(step, image, pads(padding) ? std::move(fill) : std::vector<std::byte>());
  return Status::ok();
}

}  // namespace

Status add_random_crop(const Arguments& arguments, Plan& plan) {
  DL_RETURN_IF_ERROR(want_decoded(arguments, plan));
  DL_ASSIGN_OR_RETURN(const Size size, size_argument(arguments, kSize));
  DL_ASSIGN_OR_RETURN(const Padding padding, padding_argument(arguments, {kPadding, kFill, kMode}));
  const bool borders = plan.in_pixels() && plan.field().dtype == DType::kU8;  // what a stage can make
  if (plan.in_frame() && (borders || !pads(padding))) return add_random_view(arguments, plan, size, padding);
  DL_ASSIGN_OR_RETURN(const ImageShape image, want_image(arguments, plan));
  DL_RETURN_IF_ERROR(want_inside(arguments, size, padding, image.height, image.width));
  if (pads(padding) && padding.mode != PadMode::kConstant)
    return add_random_view(arguments, plan, size, padding);
  return add_random_geometry(arguments, plan, size, padding, image);
}

}  // namespace dataline
