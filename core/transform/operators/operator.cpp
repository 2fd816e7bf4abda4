// SPDX-License-Identifier: Apache-2.0
#include "core/transform/operators/operator.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "core/base/checked.h"
#include "core/base/text.h"
#include "core/transform/operators/host_operator.h"

namespace dataline {
namespace {

constexpr const Operator* kOperators[] = {
#define OPERATOR(name) &name##_operator,
#include "core/transform/operators/list.def"
#undef OPERATOR
};

constexpr const OperatorInfo* kInfos[] = {
#define OPERATOR(name) &name##_operator.info,
#include "core/transform/operators/list.def"
#undef OPERATOR
};

// "0.5" for messages; whole numbers without a point.
std::string number_text(double value) {
  const int64_t tenths = static_cast<int64_t>(value * 10 + (value < 0 ? -0.5 : 0.5));
  const int64_t size = tenths < 0 ? -tenths : tenths;
  return concat(tenths < 0 ? "-" : "", size / 10, size % 10 != 0 ? concat(".", size % 10) : "");
}

// By its own name, or by that of what it follows: torchvision's, with or without a module.
std::string suggest_operator(std::string_view wanted, std::span<const std::string_view> names) {
  const std::string_view own = wanted.substr(wanted.find_last_of('.') + 1);
  for (const OperatorInfo* info : kInfos) {
    const std::string_view source = info->source.substr(info->source.find_last_of('.') + 1);
    if (!own.empty() && own == source.substr(0, source.find_first_of(" (,")))
      return concat(", did you mean '", info->name, "'?");
  }
  return did_you_mean(own, names);
}

}  // namespace

std::span<const OperatorInfo* const> operator_table() { return kInfos; }

Result<const Operator*> find_operator(const CallSyntax& call, const TransformSettings& settings) {
  std::vector<std::string_view> names;
  for (const Operator* entry : kOperators) {
    if (entry->info.name == call.name) return entry;
    names.push_back(entry->info.name);
  }
  for (const auto& host : settings.operators) {
    if (host->table_row().info.name == call.name) return &host->table_row();
    names.push_back(host->table_row().info.name);
  }
  return transform_error(call.column, "expected an operator, got ", quote(call.name),
                         suggest_operator(call.name, names));
}

Status want_dense(const Arguments& arguments, const Plan& plan) {
  const Field& field = plan.field();
  if (field.varies())
    return arguments.fault("expected samples of one size, got ", field_type_text(field),
                           field.to_bucket ? ", which differ from bucket to bucket"
                                           : ", which differ; resize or a crop makes them equal");
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
                           " without axes; set axes=HWC in the URI");
  if (field.axes.empty())
    return arguments.fault("expected an image of 2 or 3 dims, got ", field_type_text(field));
  return arguments.fault("expected axes HW, HWC or CHW, got ", field.axes);
}

Result<ImageShape> want_frame_or_image(const Arguments& arguments, const Plan& plan) {
  return plan.in_frame() ? *plan.image() : want_image(arguments, plan);
}

Result<FrameShape> want_frame(const Arguments& arguments, const Plan& plan) {
  const Field& field = plan.field();
  DL_RETURN_IF_ERROR(want_decoded(arguments, plan));
  if (field.dtype == DType::kU16)
    return arguments.fault("expected u8 pixels, got u16: decode without mode=unchanged delivers u8");
  if (field.dtype != DType::kU8)
    return arguments.fault("expected u8 pixels, got ", dtype_name(field.dtype),
                           ": put it before casts and normalize");
  if (!plan.in_pixels() && field.varies())
    return arguments.fault("expected samples of one size, got ", field_type_text(field),
                           ", which differ; put it before the casts");
  DL_ASSIGN_OR_RETURN(const ImageShape image, plan.in_pixels() ? *plan.image() : want_image(arguments, plan));
  const FrameShape shape{image.height, image.width, image.channels};
  if (shape.fixed() &&
      (std::min(shape.height, shape.width) < 1 || std::max(shape.height, shape.width) > kMaxSide))
    return arguments.fault("expected an image with sides from 1 to ", kMaxSide, ", got ",
                           picture_size(shape.height, shape.width));
  if (shape.channels != 1 && shape.channels != 3 && shape.channels != 4)
    return arguments.fault("expected 1, 3 or 4 channels, got ", shape.channels);
  return shape;
}

Result<FrameShape> want_colors(const Arguments& arguments, const Plan& plan) {
  DL_ASSIGN_OR_RETURN(const FrameShape shape, want_frame(arguments, plan));
  if (shape.channels == 1 || shape.channels == 3) return shape;
  return arguments.fault("expected 1 or 3 channels, got ", shape.channels, "; decode(mode=rgb) delivers 3");
}

Status want_countable(const Arguments& arguments, const std::vector<int64_t>& shape) {
  const std::optional<int64_t> elements = checked_product(shape);
  const std::optional<int64_t> bytes =
      elements ? checked_multiply(*elements, dtype_bytes(DType::kC128)) : std::nullopt;
  if (bytes && *bytes <= std::numeric_limits<int64_t>::max() / 2) return Status::ok();
  return arguments.fault("expected a sample that can be held in memory, got shape ", shape_text(shape));
}

Result<Size> size_argument(const Arguments& arguments, size_t index) {
  DL_ASSIGN_OR_RETURN(const std::vector<int64_t> sides, arguments.integers(index, 1, kMaxSide));
  if (sides.size() > 2) return arguments.expected(index, "one side or [height, width]");
  return Size{sides.front(), sides.back()};
}

bool says_bucket(const Arguments& arguments, size_t index) {
  const Value* const value = arguments.find(index);
  return value != nullptr && value->kind == ValueKind::kWord && value->text == "bucket";
}

Result<std::optional<ViewStep>> bucket_step(const Arguments& arguments, size_t index, ViewStep::Kind kind,
                                            const Plan& plan) {
  if (!says_bucket(arguments, index)) return std::optional<ViewStep>();
  if (plan.buckets() != BucketBy::kAspect)
    return arguments.fault_at(
        index,
        "bucket: needs batches by aspect ratio, the loader's options bucket_by=aspect and bucket_edges");
  DL_ASSIGN_OR_RETURN([[maybe_unused]] const FrameShape shape, want_frame(arguments, plan));
  ViewStep step{.kind = kind};
  step.to_bucket = true;
  return std::optional<ViewStep>(step);
}

Result<double> probability_argument(const Arguments& arguments, size_t index) {
  return bounded_argument(arguments, index, 0, 1);
}

Result<double> bounded_argument(const Arguments& arguments, size_t index, double low, double high) {
  DL_ASSIGN_OR_RETURN(const double value, arguments.number(index));
  if (value >= low && value <= high) return value;
  return arguments.expected(index, "a number from ", number_text(low), " to ", number_text(high));
}

Result<Range> bounds_argument(const Arguments& arguments, size_t index, double low, double high) {
  DL_ASSIGN_OR_RETURN(const std::vector<double> ends, arguments.numbers(index));
  if (ends.size() == 2 && ends[0] >= low && ends[0] <= ends[1] && ends[1] <= high)
    return Range{ends[0], ends[1]};
  return arguments.expected(index, "two numbers from ", number_text(low), " to ", number_text(high),
                            ", the smaller first");
}

Result<Range> range_argument(const Arguments& arguments, size_t index) {
  DL_ASSIGN_OR_RETURN(const std::vector<double> ends, arguments.numbers(index));
  if (ends.size() == 2 && ends[0] > 0 && ends[0] <= ends[1] && std::isfinite(ends[1]))
    return Range{ends[0], ends[1]};
  return arguments.expected(index, "two numbers above 0, the smaller first");
}

Result<Filter> filter_argument(const Arguments& arguments, size_t index) {
  return arguments.choice<Filter>(index, {{"nearest", Filter::kNearest},
                                          {"bilinear", Filter::kBilinear},
                                          {"bicubic", Filter::kBicubic},
                                          {"area", Filter::kArea},
                                          {"lanczos", Filter::kLanczos}});
}

Result<Filter> warp_filter_argument(const Arguments& arguments, size_t index) {
  return arguments.choice<Filter>(index, {{"nearest", Filter::kNearest}, {"bilinear", Filter::kBilinear}});
}

Result<std::array<uint8_t, 4>> fill_argument(const Arguments& arguments, size_t index, int64_t channels) {
  DL_ASSIGN_OR_RETURN(const std::vector<std::byte> bytes, arguments.elements(index, DType::kU8, channels));
  std::array<uint8_t, 4> fill{};
  std::memcpy(fill.data(), bytes.data(), bytes.size());
  return fill;
}

}  // namespace dataline
