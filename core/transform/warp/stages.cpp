// SPDX-License-Identifier: Apache-2.0
#include "core/transform/warp/stages.h"

#include <algorithm>
#include <cmath>

#include "core/base/portable_math.h"

namespace dataline {
namespace {

Status apply_plan(WarpPlan plan, const WarpStyle& style, FrameScratch& scratch, Frame& frame) {
  plan.filter = style.filter;
  plan.fills = true;  // torchvision's classes pass their fill always
  plan.fill = style.fill;
  return warp(plan, scratch, frame);
}

// torchvision's _compute_affine_output_size, one axis: both ends cut to 1e-4 before they are rounded outwards.
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
    const double degrees = draws.uniform(0, rotation_.degrees.low, rotation_.degrees.high);
    return apply_plan(rotation_plan(degrees, rotation_.expand, frame.height, frame.width), style_, scratch,
                      frame);
  }

 private:
  Rotation rotation_;
  WarpStyle style_;
};

class AffineStage : public FrameStage {
 public:
  AffineStage(const AffineRanges& ranges, const WarpStyle& style) : ranges_(ranges), style_(style) {}
  bool draws() const override { return true; }
  Status apply(const Draws& draws, FrameScratch& scratch, Frame& frame) const override {
    const AffineDrawn drawn = draw_affine(ranges_, draws, frame.height, frame.width);
    WarpPlan plan;
    plan.map = inverse_affine(drawn.degrees, drawn.translate_x, drawn.translate_y, drawn.scale, drawn.shear_x,
                              drawn.shear_y);
    plan.out_height = frame.height;
    plan.out_width = frame.width;
    return apply_plan(plan, style_, scratch, frame);
  }

 private:
  AffineRanges ranges_;
  WarpStyle style_;
};

class PerspectiveStage : public FrameStage {
 public:
  PerspectiveStage(const Perspective& perspective, const WarpStyle& style)
      : perspective_(perspective), style_(style) {}
  bool draws() const override { return perspective_.probability > 0; }
  Status apply(const Draws& draws, FrameScratch& scratch, Frame& frame) const override {
    if (draws.unit(0) >= perspective_.probability) return Status::ok();
    const Corners4 corners = draw_corners(perspective_.distortion, draws, frame.height, frame.width);
    const std::optional<WarpMap> map = perspective_map(corners, frame.height, frame.width);
    if (!map) return Status::ok();
    WarpPlan plan;
    plan.map = *map;
    plan.out_height = frame.height;
    plan.out_width = frame.width;
    return apply_plan(plan, style_, scratch, frame);
  }

 private:
  Perspective perspective_;
  WarpStyle style_;
};

// Solves rows * x = right side (the ninth column) by Gauss's elimination, largest pivot first; false: singular.
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
  drawn.degrees = draws.uniform(0, ranges.degrees.low, ranges.degrees.high);
  if (ranges.translate) {
    const double most_x = (*ranges.translate)[0] * static_cast<double>(width);
    const double most_y = (*ranges.translate)[1] * static_cast<double>(height);
    drawn.translate_x = static_cast<double>(to_nearest(draws.uniform(1, -most_x, most_x)));
    drawn.translate_y = static_cast<double>(to_nearest(draws.uniform(2, -most_y, most_y)));
  }
  drawn.scale = draws.uniform(3, ranges.scale.low, ranges.scale.high);
  drawn.shear_x = draws.uniform(4, ranges.shear_x.low, ranges.shear_x.high);
  drawn.shear_y = draws.uniform(5, ranges.shear_y.low, ranges.shear_y.high);
  return drawn;
}

// RandomPerspective.make_params: torch.randint(0, int(distortion * half) + 1) from the near side, and
// torch.randint(side - int(distortion * half) - 1, side) from the far one.
Corners4 draw_corners(double distortion, const Draws& draws, int64_t height, int64_t width) {
  const auto most_of = [distortion](int64_t side) {
    const int64_t half = side / 2;
    return static_cast<int64_t>(distortion * static_cast<double>(half));
  };
  const auto near_side = [&](int64_t number, int64_t side) {
    return static_cast<double>(draws.below(number, most_of(side) + 1));
  };
  const auto far_side = [&](int64_t number, int64_t side) {
    return static_cast<double>(side - most_of(side) - 1 + draws.below(number, most_of(side) + 1));
  };
  return {{{near_side(1, width), near_side(2, height)},
           {far_side(3, width), near_side(4, height)},
           {far_side(5, width), far_side(6, height)},
           {near_side(7, width), far_side(8, height)}}};
}

std::optional<WarpMap> perspective_map(const Corners4& corners, int64_t height, int64_t width) {
  const auto right = static_cast<double>(width - 1), bottom = static_cast<double>(height - 1);
  const Corners4 from{{{0, 0}, {right, 0}, {right, bottom}, {0, bottom}}};
  // torchvision feeds the corners' pixel numbers to a map between positions whose pixel centres are at halves.
  System rows{};
  for (size_t i = 0; i < 4; ++i) {
    const double x = corners[i][0], y = corners[i][1], u = from[i][0], v = from[i][1];
    rows[2 * i] = {x, y, 1, 0, 0, 0, -u * x, -u * y, u};
    rows[2 * i + 1] = {0, 0, 0, x, y, 1, -v * x, -v * y, v};
  }
  if (!solve(rows)) return std::nullopt;
  std::array<double, 8> c;
  for (size_t i = 0; i < 8; ++i) c[i] = rows[i][8];
  // From positions measured from the corner to positions measured from the centre, on both sides.
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

FrameStageRef make_rotation(const Rotation& rotation, const WarpStyle& style) {
  return std::make_unique<RotationStage>(rotation, style);
}
FrameStageRef make_affine(const AffineRanges& ranges, const WarpStyle& style) {
  return std::make_unique<AffineStage>(ranges, style);
}
FrameStageRef make_perspective(const Perspective& perspective, const WarpStyle& style) {
  return std::make_unique<PerspectiveStage>(perspective, style);
}

}  // namespace dataline
