// SPDX-License-Identifier: Apache-2.0
#include "core/base/text.h"
#include "core/transform/operators/checks.h"

namespace dataline {
namespace {

enum Argument : size_t { kSize };

// Half of the margin, rounded to even as Python's round() does and so torchvision.
int64_t half(int64_t margin) { return margin % 2 == 0 ? margin / 2 : (margin + 1) / 4 * 2; }

}  // namespace

Status add_center_crop(const Arguments& arguments, Plan& plan) {
  DL_ASSIGN_OR_RETURN(const ImageShape image, want_image(arguments, plan));
  DL_ASSIGN_OR_RETURN(const Size size, size_argument(arguments, kSize));
  if (size.height > image.height || size.width > image.width)
    return arguments.fault_at(kSize, "expected at most ", shape_text(std::vector{image.height, image.width}),
                              ", the image, got ", shape_text(std::vector{size.height, size.width}));
  GeometryStep step;
  step.kind = GeometryStep::Kind::kCrop;
  step.height = size.height;
  step.width = size.width;
  step.top = half(image.height - size.height);
  step.left = half(image.width - size.width);
  plan.add_geometry(step, image, {});
  return Status::ok();
}

}  // namespace dataline
