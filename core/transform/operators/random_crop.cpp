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

}  // namespace

Status add_random_crop(const Arguments& arguments, Plan& plan) {
  DL_ASSIGN_OR_RETURN(const ImageShape image, want_image(arguments, plan));
  DL_ASSIGN_OR_RETURN(const Size size, size_argument(arguments, kSize));
  GeometryStep step;
  step.kind = GeometryStep::Kind::kCrop;
  step.random = true;
  step.height = size.height;
  step.width = size.width;
  DL_RETURN_IF_ERROR(read_padding(arguments, step));
  const int64_t height = step.pad_top + image.height + step.pad_bottom;
  const int64_t width = step.pad_left + image.width + step.pad_right;
  if (size.height > height || size.width > width)
    return arguments.fault_at(kSize, "expected at most ", shape_text(std::vector{height, width}),
                              ", the image with its padding, got ",
                              shape_text(std::vector{size.height, size.width}));
  DL_RETURN_IF_ERROR(want_countable(arguments, {size.height, size.width, image.channels}));
  const bool pads = height > image.height || width > image.width;
  DL_ASSIGN_OR_RETURN(std::vector<std::byte> fill,
                      arguments.elements(kFill, plan.field().dtype, image.channels));
  plan.add_geometry(step, image, pads ? std::move(fill) : std::vector<std::byte>());
  return Status::ok();
}

}  // namespace dataline
