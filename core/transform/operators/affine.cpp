// rotate and affine.
// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "core/base/portable_math.h"
#include "core/transform/operators/warp_style.h"

namespace dataline {
namespace {

constexpr OperatorArgument kDegreesArgument = {"degrees", "number or list", ""};
constexpr OperatorArgument kRotateArguments[] = {
    kDegreesArgument, kNearestArgument, {"expand", "true or false", "false"}, kFillArgument};
constexpr OperatorArgument kAffineArguments[] = {
    kDegreesArgument,          {"translate", "list", "none"},
    {"scale", "list", "none"}, {"shear", "number or list", "none"},
    kNearestArgument,          kFillArgument};

// torchvision's _compute_affine_output_size, one axis: both ends are truncated to 1e-4, then rounded outwards.
int64_t extent(double half, double middle) {
  constexpr double kSteps = 10000;
  const double low = std::trunc((middle - half) * kSteps) / kSteps;
  const double high = std::trunc((middle + half) * kSteps) / kSteps;
  return static_cast<int64_t>(std::ceil(high) - std::floor(low));
}

class RotationStage : public FrameStage {
 public:
  RotationStage(const Rotation& rotation, const WarpStyle& style) : rotation_(rotation), style_(style) {}
  FrameShape shape(const FrameShape& in) const override {
    FrameShape out = in;
    if (rotation_.expand) out.height = out.width = FrameShape::kVaries;
    return out;
  }
  bool draws() const override { return rotation_.degrees.low != rotation_.degrees.high; }
  Status apply(const Draws& draws, FrameScratch& scratch, Frame& frame) const override {
    const double degrees = draws.uniform(0, rotation_.degrees);
    return apply_warp(rotation_plan(degrees, rotation_.expand, frame.height, frame.width), style_, scratch,
                      frame);
  }

 private:
  Rotation rotation_;
  WarpStyle style_;
};

Status want_range(const Arguments& arguments, size_t index, double low, double high) {
  if (low <= high) return Status::ok();
  return arguments.fault_at(index, "expected [low, high] with low <= high, got ", arguments.text_of(index));
}

// torchvision's _setup_angle: a number x means [-x, x].
Result<Range> degrees_argument(const Arguments& arguments, size_t index) {
  DL_ASSIGN_OR_RETURN(const std::vector<double> values, arguments.numbers(index));
  if (values.size() == 1 && values[0] >= 0) return Range{-values[0], values[0]};
  if (values.size() != 2)
    return arguments.fault_at(index, "expected degrees >= 0 or [low, high], got ", arguments.text_of(index));
  DL_RETURN_IF_ERROR(want_range(arguments, index, values[0], values[1]));
  return Range{values[0], values[1]};
}

// The tangent, and with it the slope, grows without bound at 90 degrees.
constexpr double kMaxShear = 89;

Status read_shear(const Arguments& arguments, size_t index, AffineRanges& ranges) {
  if (!arguments.given(index)) return Status::ok();
  DL_ASSIGN_OR_RETURN(const std::vector<double> values, arguments.numbers(index));
  for (const double value : values)
    if (!(value >= -kMaxShear && value <= kMaxShear))
      return arguments.fault_at(index, "expected degrees from -89 to 89, got ", arguments.text_of(index));
  if (values.size() == 3 || values.size() > 4 || (values.size() == 1 && values[0] < 0))
    return arguments.fault_at(index, "expected degrees >= 0, [low, high] or [low, high, low, high], got ",
                              arguments.text_of(index));
  ranges.shear_x = values.size() == 1 ? Range{-values[0], values[0]} : Range{values[0], values[1]};
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

Status add_rotate(const Arguments& arguments, Plan& plan) {
  enum Argument : size_t { kDegrees, kFilter, kExpand, kFill };
  DL_ASSIGN_OR_RETURN(const FrameShape shape, want_frame(arguments, plan));
  Rotation rotation;
  DL_ASSIGN_OR_RETURN(rotation.degrees, degrees_argument(arguments, kDegrees));
  DL_ASSIGN_OR_RETURN(rotation.expand, arguments.boolean(kExpand));
  DL_ASSIGN_OR_RETURN(const WarpStyle style, warp_style(arguments, kFilter, kFill, shape.channels));
  plan.add_stage(make_rotation(rotation, style));
  return Status::ok();
}

Status add_affine(const Arguments& arguments, Plan& plan) {
  enum Argument : size_t { kDegrees, kTranslate, kScale, kShear, kFilter, kFill };
  DL_ASSIGN_OR_RETURN(const FrameShape shape, want_frame(arguments, plan));
  AffineRanges ranges;
  DL_ASSIGN_OR_RETURN(ranges.degrees, degrees_argument(arguments, kDegrees));
  DL_RETURN_IF_ERROR(read_translate(arguments, kTranslate, ranges));
  if (arguments.given(kScale)) {
    DL_ASSIGN_OR_RETURN(ranges.scale, range_argument(arguments, kScale));
  }
  DL_RETURN_IF_ERROR(read_shear(arguments, kShear, ranges));
  DL_ASSIGN_OR_RETURN(const WarpStyle style, warp_style(arguments, kFilter, kFill, shape.channels));
  plan.add_stage(make_affine(ranges, style));
  return Status::ok();
}

}  // namespace

WarpPlan rotation_plan(double degrees, bool expand, int64_t height, int64_t width) {
  WarpPlan plan;
  plan.map = inverse_affine(-degrees, 0, 0, 1, 0, 0);
  plan.out_height = height;
  plan.out_width = width;
  if (!expand) return plan;
  const std::array<double, 8>& m = plan.map.m;
  const double half_height = 0.5 * static_cast<double>(height), half_width = 0.5 * static_cast<double>(width);
  plan.out_width = extent(std::abs(m[0]) * half_width + std::abs(m[1]) * half_height, half_width);
  plan.out_height = extent(std::abs(m[3]) * half_width + std::abs(m[4]) * half_height, half_height);
  return plan;
}

AffineDrawn draw_affine(const AffineRanges& ranges, const Draws& draws, int64_t height, int64_t width) {
  AffineDrawn drawn;
  drawn.degrees = draws.uniform(0, ranges.degrees);
  if (ranges.translate) {
    const double max_x = (*ranges.translate)[0] * static_cast<double>(width);
    const double max_y = (*ranges.translate)[1] * static_cast<double>(height);
    drawn.translate_x = static_cast<double>(to_nearest(draws.uniform(1, -max_x, max_x)));
    drawn.translate_y = static_cast<double>(to_nearest(draws.uniform(2, -max_y, max_y)));
  }
  drawn.scale = draws.uniform(3, ranges.scale);
  drawn.shear_x = draws.uniform(4, ranges.shear_x);
  drawn.shear_y = draws.uniform(5, ranges.shear_y);
  return drawn;
}

FrameStageRef make_rotation(const Rotation& rotation, const WarpStyle& style) {
  return std::make_shared<RotationStage>(rotation, style);
}
FrameStageRef make_affine(const AffineRanges& ranges, const WarpStyle& style) {
  return make_stage(true, [ranges, style](const Draws& draws, FrameScratch& scratch, Frame& frame) {
    const AffineDrawn drawn = draw_affine(ranges, draws, frame.height, frame.width);
    const WarpMap map = inverse_affine(drawn.degrees, drawn.translate_x, drawn.translate_y, drawn.scale,
                                       drawn.shear_x, drawn.shear_y);
    return apply_warp(map, style, scratch, frame);
  });
}

const Operator rotate_operator = {
    {"rotate", kRotateArguments,
     "Turns the image about its centre by an angle drawn from -degrees to degrees, or from [low, high]; "
     "counter-clockwise. expand=true makes room for all of it. Pixels from outside are fill.",
     "torchvision.transforms.v2.RandomRotation", "0.1"},
    add_rotate};
const Operator affine_operator = {{"affine", kAffineArguments,
                                   "Turns as rotate (clockwise), shifts by up to translate=[x, y] of width "
                                   "and height, scales by a factor from [low, high] and shears by degrees: a "
                                   "number or [low, high] along x, or [low, high, low, high] along x and y.",
                                   "torchvision.transforms.v2.RandomAffine", "0.1"},
                                  add_affine};

}  // namespace dataline
