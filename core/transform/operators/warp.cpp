// SPDX-License-Identifier: Apache-2.0
#include "core/base/text.h"
#include "core/transform/operators/color_checks.h"
#include "core/transform/operators/warp_rows.h"
#include "core/transform/warp/stages.h"

namespace dataline {
namespace {

Result<WarpStyle> warp_style(const Arguments& arguments, size_t filter, Filter usual, size_t fill,
                             int64_t channels) {
  WarpStyle style;
  style.filter = usual;
  if (arguments.given(filter)) {
    DL_ASSIGN_OR_RETURN(const size_t choice,
                        arguments.choice(filter, std::array<std::string_view, 2>{"nearest", "bilinear"}));
    style.filter = choice == 0 ? Filter::kNearest : Filter::kBilinear;
  }
  DL_ASSIGN_OR_RETURN(style.fill, fill_argument(arguments, fill, channels));
  return style;
}

Status want_range(const Arguments& arguments, size_t index, double low, double high) {
  if (low <= high) return Status::ok();
  return arguments.fault_at(index, "expected [low, high] with low <= high, got ", arguments.text_of(index));
}

// torchvision's _setup_angle: a number is from its negative to it.
Result<WarpRange> degrees_argument(const Arguments& arguments, size_t index) {
  DL_ASSIGN_OR_RETURN(const std::vector<double> values, arguments.numbers(index));
  if (values.size() == 1 && values[0] >= 0) return WarpRange{-values[0], values[0]};
  if (values.size() != 2)
    return arguments.fault_at(index, "expected degrees >= 0 or [low, high], got ", arguments.text_of(index));
  DL_RETURN_IF_ERROR(want_range(arguments, index, values[0], values[1]));
  return WarpRange{values[0], values[1]};
}

// Slopes grow without bound where the tangent does.
constexpr double kMostShear = 89;

Status read_shear(const Arguments& arguments, size_t index, AffineRanges& ranges) {
  if (!arguments.given(index)) return Status::ok();
  DL_ASSIGN_OR_RETURN(const std::vector<double> values, arguments.numbers(index));
  for (const double value : values)
    if (!(value >= -kMostShear && value <= kMostShear))
      return arguments.fault_at(index, "expected degrees from -89 to 89, got ", arguments.text_of(index));
  if (values.size() == 3 || values.size() > 4 || (values.size() == 1 && values[0] < 0))
    return arguments.fault_at(index, "expected degrees >= 0, [low, high] or [low, high, low, high], got ",
                              arguments.text_of(index));
  ranges.shear_x = values.size() == 1 ? WarpRange{-values[0], values[0]} : WarpRange{values[0], values[1]};
  if (values.size() == 4) ranges.shear_y = {values[2], values[3]};
  DL_RETURN_IF_ERROR(want_range(arguments, index, ranges.shear_x.low, ranges.shear_x.high));
  return want_range(arguments, index, ranges.shear_y.low, ranges.shear_y.high);
}

Status read_translate(const Arguments& arguments, size_t index, AffineRanges& ranges) {
  if (!arguments.given(index)) return Status::ok();
  DL_ASSIGN_OR_RETURN(const std::vector<double> values, arguments.numbers(index));
  const auto part = [](double value) { return value >= 0 && value <= 1; };
  if (values.size() != 2 || !part(values[0]) || !part(values[1]))
    return arguments.fault_at(index, "expected [x, y] from 0 to 1, got ", arguments.text_of(index));
  ranges.translate = {values[0], values[1]};
  return Status::ok();
}

}  // namespace

Status add_rotate(const Arguments& arguments, Plan& plan) {
  enum Argument : size_t { kDegrees, kFilter, kExpand, kFill };
  DL_ASSIGN_OR_RETURN(const FrameShape shape, want_frame(arguments, plan));
  Rotation rotation;
  DL_ASSIGN_OR_RETURN(rotation.degrees, degrees_argument(arguments, kDegrees));
  if (arguments.given(kExpand)) {
    DL_ASSIGN_OR_RETURN(rotation.expand, arguments.boolean(kExpand));
  }
  DL_ASSIGN_OR_RETURN(const WarpStyle style,
                      warp_style(arguments, kFilter, Filter::kNearest, kFill, shape.channels));
  plan.add_stage(make_rotation(rotation, style));
  return Status::ok();
}

Status add_affine(const Arguments& arguments, Plan& plan) {
  enum Argument : size_t { kDegrees, kTranslate, kScale, kShear, kFilter, kFill };
  DL_ASSIGN_OR_RETURN(const FrameShape shape, want_frame(arguments, plan));
  AffineRanges ranges;
  DL_ASSIGN_OR_RETURN(ranges.degrees, degrees_argument(arguments, kDegrees));
  DL_RETURN_IF_ERROR(read_translate(arguments, kTranslate, ranges));
  DL_ASSIGN_OR_RETURN(const Range scale, range_argument(arguments, kScale, {1, 1}));
  ranges.scale = {scale.low, scale.high};
  DL_RETURN_IF_ERROR(read_shear(arguments, kShear, ranges));
  DL_ASSIGN_OR_RETURN(const WarpStyle style,
                      warp_style(arguments, kFilter, Filter::kNearest, kFill, shape.channels));
  plan.add_stage(make_affine(ranges, style));
  return Status::ok();
}

Status add_perspective(const Arguments& arguments, Plan& plan) {
  enum Argument : size_t { kDistortion, kProbability, kFilter, kFill };
  DL_ASSIGN_OR_RETURN(const FrameShape shape, want_frame(arguments, plan));
  Perspective perspective;
  if (arguments.given(kDistortion)) {
    DL_ASSIGN_OR_RETURN(perspective.distortion, bounded_argument(arguments, kDistortion, 0, 1));
  }
  DL_ASSIGN_OR_RETURN(perspective.probability,
                      probability_argument(arguments, kProbability, perspective.probability));
  DL_ASSIGN_OR_RETURN(const WarpStyle style,
                      warp_style(arguments, kFilter, Filter::kBilinear, kFill, shape.channels));
  plan.add_stage(make_perspective(perspective, style));
  return Status::ok();
}

}  // namespace dataline
