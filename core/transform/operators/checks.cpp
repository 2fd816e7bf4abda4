// SPDX-License-Identifier: Apache-2.0
#include "core/transform/operators/checks.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/base/checked.h"
#include "core/base/text.h"

namespace dataline {

Status want_dense(const Arguments& arguments, const Plan& plan) {
  const Field& field = plan.field();
  if (field.varies())
    return arguments.fault("expected samples of one size, got ", field_type_text(field),
                           ", which differ; resize or a crop makes them equal");
  if (field.kind == FieldKind::kDense) return Status::ok();
  return arguments.fault("expected samples of one shape, got ", field_type_text(plan.field()),
                         ", whose length varies; pad_to makes them equal");
}

Status want_real(const Arguments& arguments, const Plan& plan) {
  const DType dtype = plan.field().dtype;
  if (dtype != DType::kC64 && dtype != DType::kC128) return Status::ok();
  return arguments.fault("expected real numbers, got ", dtype_name(dtype));
}

Status want_decoded(const Arguments& arguments, const Plan& plan) {
  const Field& field = plan.field();
  if (field.kind != FieldKind::kRagged || field.dtype != DType::kU8 || field.shape.size() != 1)
    return Status::ok();
  return arguments.fault("expected an image, got ", field_type_text(field),
                         ", encoded bytes: put decode before");
}

Result<ImageShape> want_image(const Arguments& arguments, const Plan& plan) {
  const Field& field = plan.field();
  DL_RETURN_IF_ERROR(want_decoded(arguments, plan));
  DL_RETURN_IF_ERROR(want_dense(arguments, plan));
  if (std::optional<ImageShape> image = plan.image()) return *image;
  if (field.axes.empty() && field.shape.size() == 3)
    return arguments.fault("expected axes HWC or CHW, got ", field_type_text(field),
                           " without axes; the URI can say axes=HWC");
  if (field.axes.empty())
    return arguments.fault("expected an image of 2 or 3 dims, got ", field_type_text(field));
  return arguments.fault("expected axes HW, HWC or CHW, got ", field.axes);
}

FrameShape frame_of(const Plan& plan) {
  const std::optional<ImageShape> image = plan.image();
  return image ? FrameShape{image->height, image->width, image->channels} : FrameShape();
}

Result<FrameShape> want_frame(const Arguments& arguments, const Plan& plan) {
  const Field& field = plan.field();
  DL_RETURN_IF_ERROR(want_decoded(arguments, plan));
  if (field.dtype == DType::kU16)
    return arguments.fault("expected u8 pixels, got u16: decode without mode=unchanged gives u8");
  if (field.dtype != DType::kU8)
    return arguments.fault("expected u8 pixels, got ", dtype_name(field.dtype),
                           ": put it before casts and normalize");
  if (!plan.in_pixels()) {
    if (field.varies())
      return arguments.fault("expected samples of one size, got ", field_type_text(field),
                             ", which differ; put it before the casts");
    Result<ImageShape> image = want_image(arguments, plan);
    if (!image.is_ok()) return image.take_status();
  }
  const FrameShape shape = frame_of(plan);
  if (shape.fixed() &&
      (std::min(shape.height, shape.width) < 1 || std::max(shape.height, shape.width) > kMostSide))
    return arguments.fault("expected an image with sides from 1 to ", kMostSide, ", got ", shape.height, "x",
                           shape.width);
  if (shape.channels != 1 && shape.channels != 3 && shape.channels != 4)
    return arguments.fault("expected 1, 3 or 4 channels, got ", shape.channels);
  return shape;
}

Status want_countable(const Arguments& arguments, const std::vector<int64_t>& shape) {
  const std::optional<int64_t> elements = checked_product(shape);
  const std::optional<int64_t> bytes =
      elements ? checked_multiply(*elements, dtype_bytes(DType::kC128)) : std::nullopt;
  if (bytes && *bytes <= std::numeric_limits<int64_t>::max() / 2) return Status::ok();
  return arguments.fault("expected a sample that can be held in memory, got shape ", shape_text(shape));
}

Result<Size> size_argument(const Arguments& arguments, size_t index) {
  DL_ASSIGN_OR_RETURN(const std::vector<int64_t> sides, arguments.integers(index, 1, kMostSide));
  if (sides.size() > 2)
    return arguments.fault_at(index, "expected one side or [height, width], got ", arguments.text_of(index));
  return Size{sides.front(), sides.back()};
}

Result<double> probability_argument(const Arguments& arguments, size_t index, double fallback) {
  if (!arguments.given(index)) return fallback;
  DL_ASSIGN_OR_RETURN(const double value, arguments.number(index));
  if (value >= 0 && value <= 1) return value;
  return arguments.fault_at(index, "expected a number from 0 to 1, got ", arguments.text_of(index));
}

Result<Filter> filter_argument(const Arguments& arguments, size_t index) {
  if (!arguments.given(index)) return Filter::kBilinear;
  DL_ASSIGN_OR_RETURN(const size_t choice,
                      arguments.choice(index, std::array<std::string_view, 5>{"nearest", "bilinear",
                                                                              "bicubic", "area", "lanczos"}));
  return std::array{Filter::kNearest, Filter::kBilinear, Filter::kBicubic, Filter::kArea,
                    Filter::kLanczos}[choice];
}

Result<Padding> padding_argument(const Arguments& arguments, const BorderArguments& places) {
  Padding padding;
  if (arguments.given(places.padding)) {
    DL_ASSIGN_OR_RETURN(const std::vector<int64_t> sides, arguments.integers(places.padding, 0, kMostSide));
    if (sides.size() == 3 || sides.size() > 4) {
      return arguments.fault_at(places.padding, "expected 1, 2 or 4 numbers, got ",
                                arguments.text_of(places.padding));
    }
    padding.left = sides[0];
    padding.top = sides[sides.size() > 1 ? 1 : 0];
    padding.right = sides.size() == 4 ? sides[2] : padding.left;
    padding.bottom = sides.size() == 4 ? sides[3] : padding.top;
  }
  if (!arguments.given(places.mode)) return padding;
  constexpr std::array<std::string_view, 4> kNames{"constant", "edge", "reflect", "symmetric"};
  constexpr std::array kModes{PadMode::kConstant, PadMode::kEdge, PadMode::kReflect, PadMode::kSymmetric};
  DL_ASSIGN_OR_RETURN(const size_t choice, arguments.choice(places.mode, kNames));
  padding.mode = kModes[choice];
  if (padding.mode != PadMode::kConstant && arguments.given(places.fill))
    return arguments.fault_at(places.fill, "expected it with mode=constant only, got mode=", kNames[choice]);
  return padding;
}

Result<Range> range_argument(const Arguments& arguments, size_t index, Range fallback) {
  if (!arguments.given(index)) return fallback;
  DL_ASSIGN_OR_RETURN(const std::vector<double> ends, arguments.numbers(index));
  if (ends.size() == 2 && ends[0] > 0 && ends[0] <= ends[1] && std::isfinite(ends[1]))
    return Range{ends[0], ends[1]};
  return arguments.fault_at(index, "expected two numbers above 0, the smaller first, got ",
                            arguments.text_of(index));
}

}  // namespace dataline
