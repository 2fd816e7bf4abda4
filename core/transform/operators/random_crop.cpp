// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstring>

#include "core/base/text.h"
#include "core/transform/frame/pad.h"
#include "core/transform/operators/checks.h"

namespace dataline {
namespace {

enum Argument : size_t { kSize, kPadding, kFill, kMode };

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

bool pads(const GeometryStep& step) {
  return std::max({step.pad_left, step.pad_top, step.pad_right, step.pad_bottom}) > 0;
}

Result<PadMode> mode_argument(const Arguments& arguments) {
  if (!arguments.given(kMode)) return PadMode::kConstant;
  DL_ASSIGN_OR_RETURN(
      const size_t choice,
      arguments.choice(kMode, std::array<std::string_view, 4>{"constant", "edge", "reflect", "symmetric"}));
  return std::array{PadMode::kConstant, PadMode::kEdge, PadMode::kReflect, PadMode::kSymmetric}[choice];
}

Status want_inside(const Arguments& arguments, const GeometryStep& step, int64_t height, int64_t width) {
  height += step.pad_top + step.pad_bottom;
  width += step.pad_left + step.pad_right;
  if (step.height <= height && step.width <= width) return Status::ok();
  return arguments.fault_at(kSize, "expected at most ", shape_text(std::vector{height, width}),
                            ", the image with its padding, got ",
                            shape_text(std::vector{step.height, step.width}));
}

Status add_borders(const Arguments& arguments, Plan& plan, const GeometryStep& step, PadMode mode) {
  DL_ASSIGN_OR_RETURN(const FrameShape shape, want_frame(arguments, plan));
  DL_ASSIGN_OR_RETURN(const std::vector<std::byte> fill,
                      arguments.elements(kFill, DType::kU8, shape.channels));
  Padding padding{step.pad_left, step.pad_top, step.pad_right, step.pad_bottom, mode, {}};
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
Status add_random_view(const Arguments& arguments, Plan& plan, const GeometryStep& wanted, PadMode mode) {
  const FrameShape shape = frame_of(plan);
  if (shape.fixed()) DL_RETURN_IF_ERROR(want_inside(arguments, wanted, shape.height, shape.width));
  DL_RETURN_IF_ERROR(want_countable(arguments, {wanted.height, wanted.width, shape.channels}));
  if (pads(wanted)) DL_RETURN_IF_ERROR(add_borders(arguments, plan, wanted, mode));
  ViewStep step;
  step.kind = ViewStep::Kind::kRandomCrop;
  step.height = wanted.height;
  step.width = wanted.width;
  plan.add_view(step);
  return Status::ok();
}

}  // namespace

Status add_random_crop(const Arguments& arguments, Plan& plan) {
  DL_RETURN_IF_ERROR(want_decoded(arguments, plan));
  DL_ASSIGN_OR_RETURN(const Size size, size_argument(arguments, kSize));
  GeometryStep step;
  step.kind = GeometryStep::Kind::kCrop;
  step.random = true;
  step.height = size.height;
  step.width = size.width;
  DL_RETURN_IF_ERROR(read_padding(arguments, step));
  DL_ASSIGN_OR_RETURN(const PadMode mode, mode_argument(arguments));
  const bool borders = plan.in_pixels() && plan.field().dtype == DType::kU8;  // what a stage can make
  if (plan.in_frame() && (borders || !pads(step))) return add_random_view(arguments, plan, step, mode);
  DL_ASSIGN_OR_RETURN(const ImageShape image, want_image(arguments, plan));
  DL_RETURN_IF_ERROR(want_inside(arguments, step, image.height, image.width));
  if (pads(step) && mode != PadMode::kConstant) return add_random_view(arguments, plan, step, mode);
  DL_RETURN_IF_ERROR(want_countable(arguments, {size.height, size.width, image.channels}));
  DL_ASSIGN_OR_RETURN(std::vector<std::byte> fill,
                      arguments.elements(kFill, plan.field().dtype, image.channels));
  plan.add_geometry(step, image, pads(step) ? std::move(fill) : std::vector<std::byte>());
  return Status::ok();
}

}  // namespace dataline
