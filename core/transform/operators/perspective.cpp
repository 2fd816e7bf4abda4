// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "core/base/portable_math.h"
#include "core/transform/operators/warp_style.h"

namespace dataline {
namespace {

enum Argument : size_t { kDistortion, kProbability, kFilter, kFill };
constexpr OperatorArgument kArguments[] = {{"distortion", "number", "0.5"},
                                           kProbabilityArgument,
                                           {"filter", "nearest or bilinear", "bilinear"},
                                           kFillArgument};

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

Status add(const Arguments& arguments, Plan& plan) {
  DL_ASSIGN_OR_RETURN(const FrameShape shape, want_frame(arguments, plan));
  Perspective perspective;
  DL_ASSIGN_OR_RETURN(perspective.distortion, bounded_argument(arguments, kDistortion, 0, 1));
  DL_ASSIGN_OR_RETURN(perspective.probability, probability_argument(arguments, kProbability));
  DL_ASSIGN_OR_RETURN(const WarpStyle style, warp_style(arguments, kFilter, kFill, shape.channels));
  plan.add_stage(make_perspective(perspective, style));
  return Status::ok();
}

}  // namespace

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

FrameStageRef make_perspective(const Perspective& perspective, const WarpStyle& style) {
  return make_stage(perspective.probability > 0, [perspective, style](const Draws& draws,
                                                                      FrameScratch& scratch, Frame& frame) {
    if (draws.unit(0) >= perspective.probability) return Status::ok();
    const Corners4 corners = draw_corners(perspective.distortion, draws, frame.height, frame.width);
    const std::optional<WarpMap> map = perspective_map(corners, frame.height, frame.width);
    return map ? apply_warp(*map, style, scratch, frame) : Status::ok();
  });
}

const Operator perspective_operator = {
    {"perspective", kArguments,
     "With probability p moves each corner inwards by up to distortion (0 to 1) of half a side.",
     "torchvision.transforms.v2.RandomPerspective", "0.1"},
    add};

}  // namespace dataline
