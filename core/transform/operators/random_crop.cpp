// SPDX-License-Identifier: Apache-2.0
#include "core/base/text.h"
#include "core/transform/operators/checks.h"

namespace dataline {
namespace {

enum Argument : size_t { kSize, kPadding, kFill };

// torchvision's order: all sides; left and right, top and bottom; left, top, right, bottom.
Status read_padding(const Arguments& arguments, GeometryStep& step) {
  if (!arguments.given(kPadding)) return Status::ok();
  DL_ASSIGN_OR_RETURN(const std::vector<int64_t> sides, arguments.integers(kPadding, 0, kMostSide));
  if (sides.size() == 3 || sides.size() > 4)
    return arguments.fault_at(kPadding, "expected 1, 2 or 4 numbers, got ", arguments.text_of(kPadding));
  step.pad_left = sides[0];
  step.pad_top = sides[sides.size() > 1 ? 1 : 0];
  step.pad_right = sides.size() == 4 ? sides[2] : step.pad_left;
  step.pad_bottom = sides.size() == 4 ? sides[3] : step.pad_top;
  return Status::ok();
}

Status want_inside(const Arguments& arguments, const GeometryStep& step, int64_t height, int64_t width) {
  height += step.pad_top + step.pad_bottom;
  width += step.pad_left + step.pad_right;
  if (step.height <= height && step.width <= width) return Status::ok();
  return arguments.fault_at(kSize, "expected at most ", shape_text(std::vector{height, width}),
                            ", the image with its padding, got ",
                            shape_text(std::vector{step.height, step.width}));
}

// Of a frame whose size varies, too large a crop is an error of the record.
Status add_random_view(const Arguments& arguments, Plan& plan) {
  const FrameShape shape = frame_of(plan);
  DL_ASSIGN_OR_RETURN(const Size size, size_argument(arguments, kSize));
  GeometryStep wanted;
  wanted.height = size.height;
  wanted.width = size.width;
  DL_RETURN_IF_ERROR(read_padding(arguments, wanted));
  if (shape.fixed()) DL_RETURN_IF_ERROR(want_inside(arguments, wanted, shape.height, shape.width));
  DL_RETURN_IF_ERROR(want_countable(arguments, {size.height, size.width, shape.channels}));
  ViewStep step;
  step.kind = ViewStep::Kind::kRandomCrop;
  step.height = size.height;
  step.width = size.width;
  plan.add_view(step);
  return Status::ok();
}

}  // namespace

Status add_random_crop(const Arguments& arguments, Plan& plan) {
  if (plan.in_frame()) return add_random_view(arguments, plan);
  DL_ASSIGN_OR_RETURN(const ImageShape image, want_image(arguments, plan));
  DL_ASSIGN_OR_RETURN(const Size size, size_argument(arguments, kSize));
  GeometryStep step;
  step.kind = GeometryStep::Kind::kCrop;
  step.random = true;
  step.height = size.height;
  step.width = size.width;
  DL_RETURN_IF_ERROR(read_padding(arguments, step));
  DL_RETURN_IF_ERROR(want_inside(arguments, step, image.height, image.width));
  DL_RETURN_IF_ERROR(want_countable(arguments, {size.height, size.width, image.channels}));
  const bool pads = step.pad_top + step.pad_bottom + step.pad_left + step.pad_right > 0;
  DL_ASSIGN_OR_RETURN(std::vector<std::byte> fill,
                      arguments.elements(kFill, plan.field().dtype, image.channels));
  plan.add_geometry(step, image, pads ? std::move(fill) : std::vector<std::byte>());
  return Status::ok();
}

}  // namespace dataline
