// rotate, affine and perspective.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "core/base/portable_math.h"
#include "core/transform/operators/operator.h"
#include "core/transform/operators/stages.h"

namespace dataline {
namespace {

constexpr OperatorArgument kDegreesArgument = {"degrees", "number or list", ""};
constexpr OperatorArgument kRotateArguments[] = {kDegreesArgument,
                                                 kNearestArgument,
                                                 {"expand", "true or false", "false"},
                                                 kNamedFillArgument};  // torchvision's fourth is center
constexpr OperatorArgument kAffineArguments[] = {
    kDegreesArgument,          {"translate", "list", "none"},
    {"scale", "list", "none"}, {"shear", "number or list", "none"},
    kNearestArgument,          kFillArgument};
constexpr OperatorArgument kPerspectiveArguments[] = {{"distortion", "number", "0.5"},
                                                      kProbabilityArgument,
                                                      {"filter", "nearest or bilinear", "bilinear"},
                                                      kFillArgument};

Result<WarpStyle> warp_style(const Arguments& arguments, size_t filter, size_t fill, int64_t channels) {
  WarpStyle style;
  DL_ASSIGN_OR_RETURN(style.filter, warp_filter_argument(arguments, filter));
  DL_ASSIGN_OR_RETURN(style.fill, fill_argument(arguments, fill, channels));
  return style;
}

Status apply_warp(WarpPlan plan, const WarpStyle& style, FrameScratch& scratch, Frame& frame) {
  plan.filter = style.filter;
  plan.fills = true;  // torchvision's classes always pass their fill
  plan.fill = style.fill;
  return warp(plan, scratch, frame);
}

// The result has the frame's size.
Status apply_warp(const WarpMap& map, const WarpStyle& style, FrameScratch& scratch, Frame& frame) {
  return apply_warp({.map = map, .out_height = frame.height, .out_width = frame.width}, style, scratch,
                    frame);
}

// torchvision's _compute_affine_output_size, one axis: both ends are truncated to 1e-4, then rounded outwards.
int64_t extent(double half, double middle) {
  constexpr double kSteps = 10000;
  const double low = std::trunc((middle - half) * kSteps) / kSteps;
  const double high = std::trunc((middle + half) * kSteps) / kSteps;
  return static_cast<int64_t>(std::ceil(high) - std::floor(low));
}

Status want_range(const Arguments& arguments, size_t index, double low, double high) {
  if (low <= high) return Status::ok();
  return arguments.expected(index, "[low, high] with low <= high");
}

// torchvision's _setup_angle: a number x means [-x, x].
Result<Range> degrees_argument(const Arguments& arguments, size_t index) {
  DL_ASSIGN_OR_RETURN(const std::vector<double> values, arguments.numbers(index));
  if (values.size() == 1 && values[0] >= 0) return Range{-values[0], values[0]};
  if (values.size() != 2) return arguments.expected(index, "degrees >= 0 or [low, high]");
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
      return arguments.expected(index, "degrees from -89 to 89");
  if (values.size() == 3 || values.size() > 4 || (values.size() == 1 && values[0] < 0))
    return arguments.expected(index, "degrees >= 0, [low, high] or [low, high, low, high]");
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
    return arguments.expected(index, "[x, y] from 0 to 1");
  ranges.translate = {values[0], values[1]};
  return Status::ok();
}

// Solves rows * x = the ninth column by Gaussian elimination with partial pivoting; false if singular.
using System = std::array<std::array<double, 9>, 8>;
bool solve(System& rows) {
  for (size_t k = 0; k < 8; ++k) {
    const auto larger = [k](const auto& a, const auto& b) { return std::abs(a[k]) < std::abs(b[k]); };
    std::swap(rows[k], *std::max_element(rows.begin() + static_cast<ptrdiff_t>(k), rows.end(), larger));
    if (std::abs(rows[k][k]) < 1e-9) return false;
    for (size_t i = 0; i < 8; ++i) {
      if (i == k) continue;
      const double factor = rows[i][k] / rows[k][k];
      for (size_t j = k; j < 9; ++j) rows[i][j] -= factor * rows[k][j];
    }
  }
  for (size_t k = 0; k < 8; ++k) rows[k][8] /= rows[k][k];
  return true;
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

Status add_perspective(const Arguments& arguments, Plan& plan) {
  enum Argument : size_t { kDistortion, kProbability, kFilter, kFill };
  DL_ASSIGN_OR_RETURN(const FrameShape shape, want_frame(arguments, plan));
  Perspective perspective;
  DL_ASSIGN_OR_RETURN(perspective.distortion, bounded_argument(arguments, kDistortion, 0, 1));
  DL_ASSIGN_OR_RETURN(perspective.probability, probability_argument(arguments, kProbability));
  DL_ASSIGN_OR_RETURN(const WarpStyle style, warp_style(arguments, kFilter, kFill, shape.channels));
  plan.add_stage(make_perspective(perspective, style));
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

// RandomPerspective.make_params: torch.randint(0, int(distortion * half) + 1) from the near side,
// and torch.randint(side - int(distortion * half) - 1, side) from the far one.
Corners4 draw_corners(double distortion, const Draws& draws, int64_t height, int64_t width) {
  const auto reach = [distortion](int64_t side) {
    const int64_t half = side / 2;
    return static_cast<int64_t>(distortion * static_cast<double>(half));
  };
  const auto near_side = [&](int64_t number, int64_t side) {
    return static_cast<double>(draws.below(number, reach(side) + 1));
  };
  const auto far_side = [&](int64_t number, int64_t side) {
    return static_cast<double>(side - reach(side) - 1 + draws.below(number, reach(side) + 1));
  };
  return {{{near_side(1, width), near_side(2, height)},
           {far_side(3, width), near_side(4, height)},
           {far_side(5, width), far_side(6, height)},
           {near_side(7, width), far_side(8, height)}}};
}

std::optional<WarpMap> perspective_map(const Corners4& corners, int64_t height, int64_t width) {
  const auto right = static_cast<double>(width - 1), bottom = static_cast<double>(height - 1);
  const Corners4 from{{{0, 0}, {right, 0}, {right, bottom}, {0, bottom}}};
  // torchvision passes pixel indices of the corners to a map between positions whose pixel centres are at halves.
  System rows{};
  for (size_t i = 0; i < 4; ++i) {
    const double x = corners[i][0], y = corners[i][1], u = from[i][0], v = from[i][1];
    rows[2 * i] = {x, y, 1, 0, 0, 0, -u * x, -u * y, u};
    rows[2 * i + 1] = {0, 0, 0, x, y, 1, -v * x, -v * y, v};
  }
  if (!solve(rows)) return std::nullopt;
  std::array<double, 8> c;
  for (size_t i = 0; i < 8; ++i) c[i] = rows[i][8];
  // From positions relative to the corner to positions relative to the centre, on both sides.
  const double middle_x = 0.5 * static_cast<double>(width), middle_y = 0.5 * static_cast<double>(height);
  const double w = c[6] * middle_x + c[7] * middle_y + 1;
  if (std::abs(w) < 1e-9) return std::nullopt;
  const double at_x = c[0] * middle_x + c[1] * middle_y + c[2],
               at_y = c[3] * middle_x + c[4] * middle_y + c[5];
  WarpMap map;
  map.m = {(c[0] - middle_x * c[6]) / w,
           (c[1] - middle_x * c[7]) / w,
           (at_x - middle_x * w) / w,
           (c[3] - middle_y * c[6]) / w,
           (c[4] - middle_y * c[7]) / w,
           (at_y - middle_y * w) / w,
           c[6] / w,
           c[7] / w};
  return map;
}

FrameStage make_rotation(const Rotation& rotation, const WarpStyle& style) {
  const auto [low, high] = rotation.degrees;
  const auto shape = [expand = rotation.expand](FrameShape out) {
    if (!expand) return out;
    out.height = out.width = FrameShape::kVaries;
    out.of_bucket = false;
    return out;
  };
  const auto apply = [rotation, style](const Draws& draws, FrameScratch& scratch, Frame& frame) {
    const double degrees = draws.uniform(0, rotation.degrees);
    return apply_warp(rotation_plan(degrees, rotation.expand, frame.height, frame.width), style, scratch,
                      frame);
  };
  return {low != high, apply, shape};
}

FrameStage make_affine(const AffineRanges& ranges, const WarpStyle& style) {
  return {true, [ranges, style](const Draws& draws, FrameScratch& scratch, Frame& frame) {
            const AffineDrawn drawn = draw_affine(ranges, draws, frame.height, frame.width);
            const WarpMap map = inverse_affine(drawn.degrees, drawn.translate_x, drawn.translate_y,
                                               drawn.scale, drawn.shear_x, drawn.shear_y);
            return apply_warp(map, style, scratch, frame);
          }};
}

FrameStage make_perspective(const Perspective& perspective, const WarpStyle& style) {
  const auto apply = [perspective, style](const Draws& draws, FrameScratch& scratch, Frame& frame) {
    if (draws.unit(0) >= perspective.probability) return Status::ok();
    const Corners4 corners = draw_corners(perspective.distortion, draws, frame.height, frame.width);
    const std::optional<WarpMap> map = perspective_map(corners, frame.height, frame.width);
    return map ? apply_warp(*map, style, scratch, frame) : Status::ok();
  };
  return {perspective.probability > 0, apply};
}

const Operator rotate_operator = {
    {"rotate", kRotateArguments,
     "Rotates the image counter-clockwise about its centre, by an angle drawn from -degrees to degrees, or "
     "from [low, high]. expand=true enlarges the image to hold all of it. Pixels from outside are fill.",
     "torchvision.transforms.v2.RandomRotation", "0.1"},
    add_rotate};
const Operator affine_operator = {{"affine", kAffineArguments,
                                   "Rotates (clockwise), shifts by up to translate=[x, y] of width and "
                                   "height, and scales by a factor from [low, high]. Shears by degrees: a "
                                   "number or [low, high] along x, or [low, high, low, high] along x and y.",
                                   "torchvision.transforms.v2.RandomAffine", "0.1"},
                                  add_affine};
const Operator perspective_operator = {
    {"perspective", kPerspectiveArguments,
     "With probability p, moves each corner inwards by up to distortion (0 to 1) of half a side.",
     "torchvision.transforms.v2.RandomPerspective", "0.1"},
    add_perspective};

}  // namespace dataline
