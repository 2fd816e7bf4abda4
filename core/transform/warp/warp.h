// Pixels moved by a map from output to source: rotations, affine maps, perspectives.
//
// As torchvision.transforms.v2.functional on uint8 tensors: grid_sample with align_corners=false, nearest or bilinear, zeros
// outside unless filled. The same bytes on every machine: positions in f64, weights in fixed point.
//
// Threads: any.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

#include "core/base/status.h"
#include "core/transform/pixels/frame.h"

namespace dataline {

// Output pixel (x, y) comes from ((m0 x + m1 y + m2) / w, (m3 x + m4 y + m5) / w), w = m6 x + m7 y + 1, in pixels relative to
// the images' centres (as in torchvision's matrices). Affine: m6 = m7 = 0.
struct WarpMap {
  std::array<double, 8> m{1, 0, 0, 0, 1, 0, 0, 0};
};

struct WarpPlan {
  WarpMap map;
  int64_t out_height = 0, out_width = 0;
  Filter filter = Filter::kNearest;  // or kBilinear
  // Without a fill torchvision uses zeros outside. With one (its transform classes always pass one, if only 0) it blends
  // border pixels with the fill after zeros were already blended in, so the outside part is weighted twice.
  bool fills = false;
  std::array<uint8_t, 4> fill{};  // one a channel
};

// torchvision's _get_inverse_affine_matrix: angle and shears in degrees, translation in pixels, all relative to the centre.
// functional.affine uses it directly; functional.rotate(angle) is inverse_affine(-angle, 0, 0, 1, 0, 0).
WarpMap inverse_affine(double angle, double translate_x, double translate_y, double scale, double shear_x,
                       double shear_y);

// Takes memory for the result from the scratch and points `frame` to it. kTooLarge.
Status warp(const WarpPlan& plan, FrameScratch& scratch, Frame& frame);

}  // namespace dataline
