// Warps images for scripts. Requests, each answered at once:
//   W height width channels out_height out_width filter fills fill m0 .. m7   and the pixels: answers the pixels
//   A angle translate_x translate_y scale shear_x shear_y                      answers m0 .. m5 as text
// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <cstring>
#include <vector>

#include "core/transform/warp/warp.h"

namespace {

using dataline::Frame;

bool one_matrix() {
  double angle, x, y, scale, shear_x, shear_y;
  if (std::scanf("%lf %lf %lf %lf %lf %lf", &angle, &x, &y, &scale, &shear_x, &shear_y) != 6) return false;
  std::getchar();
  const dataline::WarpMap map = dataline::inverse_affine(angle, x, y, scale, shear_x, shear_y);
  for (size_t i = 0; i < 6; ++i) std::printf("%.17g ", map.m[i]);
  std::printf("\n");
  return true;
}

bool one_warp() {
  long h, w, c, oh, ow;
  int filter, fills, fill;
  if (std::scanf("%ld %ld %ld %ld %ld %d %d %d", &h, &w, &c, &oh, &ow, &filter, &fills, &fill) != 8)
    return false;
  dataline::WarpPlan plan;
  for (double& m : plan.map.m)
    if (std::scanf("%lf", &m) != 1) return false;
  std::getchar();
  plan.out_height = oh;
  plan.out_width = ow;
  plan.filter = static_cast<dataline::Filter>(filter);
  plan.fills = fills != 0;
  plan.fill.fill(static_cast<uint8_t>(fill));
  std::vector<std::byte> in(static_cast<size_t>(h * w * c)), memory(static_cast<size_t>(oh * ow * c + 64));
  if (std::fread(in.data(), 1, in.size(), stdin) != in.size()) return false;
  dataline::FrameScratch scratch(memory.data(), static_cast<int64_t>(memory.size()));
  Frame frame{in.data(), h, w, c, 1};
  if (!dataline::warp(plan, scratch, frame).is_ok()) return false;
  std::fwrite(frame.pixels, 1, static_cast<size_t>(frame.bytes()), stdout);
  return true;
}

}  // namespace

int main() {
  for (int kind; (kind = std::getchar()) != EOF;) {
    if (!(kind == 'A' ? one_matrix() : kind == 'W' && one_warp())) return 1;
    std::fflush(stdout);
  }
  return 0;
}
