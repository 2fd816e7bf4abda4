// SPDX-License-Identifier: Apache-2.0
#include "core/transform/warp/warp.h"

#include <algorithm>

#include "core/base/portable_math.h"

namespace dataline {
namespace {

constexpr int32_t kPartBits = 11;  // fractional bits of a position; bilinear weights are products of two
constexpr int32_t kPart = 1 << kPartBits;

// Constants of the loops, in pixels from the corner of the source and of the result.
struct WarpJob {
  WarpJob(const WarpPlan& of, const Frame& from)
      : plan(of),
        source(from),
        half_x(0.5 * static_cast<double>(of.out_width) - 0.5),
        half_y(0.5 * static_cast<double>(of.out_height) - 0.5),
        middle_x(0.5 * static_cast<double>(from.width) - 0.5),
        middle_y(0.5 * static_cast<double>(from.height) - 0.5) {}

  const WarpPlan& plan;
  const Frame& source;
  double half_x, half_y;      // centre of the result
  double middle_x, middle_y;  // centre of the source
};

// In pixels of the source; the centre of pixel (0, 0) is (0, 0).
struct Point {
  double x, y;
};

// Also false for NaN, at a perspective's horizon.
bool near_by(const WarpJob& job, Point at) {
  return at.x > -1 && at.x < static_cast<double>(job.source.width) && at.y > -1 &&
         at.y < static_cast<double>(job.source.height);
}

bool inside(const Frame& frame, int64_t x, int64_t y) {
  return x >= 0 && x < frame.width && y >= 0 && y < frame.height;
}

uint8_t outside(const WarpPlan& plan, int64_t channel) {
  return plan.fills ? plan.fill[static_cast<size_t>(channel)] : uint8_t{0};
}

constexpr int32_t kBits = 2 * kPartBits;

// For points at the border or outside.
void blend_edge(const WarpJob& job, Point at, std::byte* out) {
  const Frame& frame = job.source;
  if (!near_by(job, at)) {
    for (int64_t c = 0; c < frame.channels; ++c) out[c] = std::byte{outside(job.plan, c)};
    return;
  }
  const auto part_of = [](double t) { return to_nearest(t * kPart + kPart) - kPart; };  // t > -1
  const int64_t fine_x = part_of(at.x), fine_y = part_of(at.y);
  const int64_t x = fine_x >> kPartBits, y = fine_y >> kPartBits;
  const auto right = static_cast<int32_t>(fine_x & (kPart - 1)),
             lower = static_cast<int32_t>(fine_y & (kPart - 1));
  const int32_t across[2] = {kPart - right, right}, down[2] = {kPart - lower, lower};
  // The four neighbours and their weights, which sum to 1 << kBits with those outside.
  const std::byte* near[4] = {};  // null: outside
  int32_t weight[4] = {}, whole = 0;
  for (int k = 0; k < 4; ++k) {
    const int64_t to_x = x + (k & 1), to_y = y + (k >> 1);
    if (!inside(frame, to_x, to_y)) continue;
    near[k] = frame.pixels + (to_y * frame.width + to_x) * frame.channels;
    weight[k] = across[k & 1] * down[k >> 1];
    whole += weight[k];
  }
  for (int64_t c = 0; c < frame.channels; ++c) {
    int64_t sum = 0;
    for (int k = 0; k < 4; ++k)
      if (near[k] != nullptr) sum += weight[k] * std::to_integer<int64_t>(near[k][c]);
    if (job.plan.fills && whole != 1 << kBits)
      sum = ((sum * whole) >> kBits) + ((1 << kBits) - whole) * int64_t{outside(job.plan, c)};
    out[c] = static_cast<std::byte>((sum + (1 << (kBits - 1))) >> kBits);
  }
}

template <int kChannels>
void blend(const WarpJob& job, Point at, std::byte* out) {
  const bool within = at.x >= 0 && at.x < static_cast<double>(job.source.width - 1) && at.y >= 0 &&
                      at.y < static_cast<double>(job.source.height - 1);
  if (!within) return blend_edge(job, at, out);
  const auto fine_x = static_cast<int64_t>(to_nearest(at.x * kPart)),
             fine_y = static_cast<int64_t>(to_nearest(at.y * kPart));
  const int64_t x = fine_x >> kPartBits, y = fine_y >> kPartBits;
  if (x >= job.source.width - 1 || y >= job.source.height - 1)
    return blend_edge(job, at, out);  // rounded up to it
  const auto right = static_cast<int32_t>(fine_x & (kPart - 1)),
             lower = static_cast<int32_t>(fine_y & (kPart - 1));
  const int32_t weights[4] = {(kPart - right) * (kPart - lower), right * (kPart - lower),
                              (kPart - right) * lower, right * lower};
  const auto* top =
      reinterpret_cast<const uint8_t*>(job.source.pixels) + (y * job.source.width + x) * kChannels;
  const uint8_t* bottom = top + job.source.width * kChannels;
  for (int c = 0; c < kChannels; ++c) {
    const int32_t sum = weights[0] * top[c] + weights[1] * top[c + kChannels] + weights[2] * bottom[c] +
                        weights[3] * bottom[c + kChannels];
    out[c] = static_cast<std::byte>((sum + (1 << (kBits - 1))) >> kBits);
  }
}

template <int kChannels>
void pick(const WarpJob& job, Point at, std::byte* out) {
  if (near_by(job, at)) {
    const int64_t x = to_nearest(at.x), y = to_nearest(at.y);
    if (inside(job.source, x, y)) {
      const std::byte* from = job.source.pixels + (y * job.source.width + x) * kChannels;
      for (int c = 0; c < kChannels; ++c) out[c] = from[c];
      return;
    }
  }
  for (int c = 0; c < kChannels; ++c) out[c] = std::byte{outside(job.plan, c)};
}

// One line of the result.
using Line = void (*)(const WarpJob& job, int64_t y, std::byte* out);

template <int kChannels, bool kBlends>
void line_of_pixels(const WarpJob& job, int64_t y, std::byte* out) {
  const std::array<double, 8>& m = job.plan.map.m;
  const double v = static_cast<double>(y) - job.half_y;
  const double line_x = m[1] * v + m[2], line_y = m[4] * v + m[5], line_w = m[7] * v + 1;
  const bool divides = m[6] != 0 || m[7] != 0;
  for (int64_t x = 0; x < job.plan.out_width; ++x, out += kChannels) {
    const double u = static_cast<double>(x) - job.half_x;
    Point at{m[0] * u + line_x, m[3] * u + line_y};
    if (divides) {
      const double w = m[6] * u + line_w;
      at = {at.x / w, at.y / w};
    }
    at = {at.x + job.middle_x, at.y + job.middle_y};
    if (kBlends)
      blend<kChannels>(job, at, out);
    else
      pick<kChannels>(job, at, out);
  }
}

Line line_of(const WarpPlan& plan, int64_t channels) {
  const bool blends = plan.filter != Filter::kNearest;
  if (channels == 1) return blends ? line_of_pixels<1, true> : line_of_pixels<1, false>;
  if (channels == 3) return blends ? line_of_pixels<3, true> : line_of_pixels<3, false>;
  return blends ? line_of_pixels<4, true> : line_of_pixels<4, false>;
}

}  // namespace

WarpMap inverse_affine(double angle, double translate_x, double translate_y, double scale, double shear_x,
                       double shear_y) {
  const double turn = angle / 180, lean_x = shear_x / 180, lean_y = shear_y / 180;
  const double cosine = cos_pi(turn - lean_y) / cos_pi(lean_y), sine = sin_pi(turn - lean_y) / cos_pi(lean_y);
  const double slope = sin_pi(lean_x) / cos_pi(lean_x);
  const double a = cosine, b = -cosine * slope - sin_pi(turn);
  const double c = sine, d = -sine * slope + cos_pi(turn);
  WarpMap map;
  map.m = {d / scale, -b / scale, 0, -c / scale, a / scale, 0, 0, 0};
  map.m[2] = -(map.m[0] * translate_x + map.m[1] * translate_y);
  map.m[5] = -(map.m[3] * translate_x + map.m[4] * translate_y);
  return map;
}

Status warp(const WarpPlan& plan, FrameScratch& scratch, Frame& frame) {
  Frame result = frame;
  result.height = plan.out_height;
  result.width = plan.out_width;
  result.pixels = scratch.take(result.bytes());
  if (result.pixels == nullptr) return scratch.too_large(frame.height, frame.width, result.bytes());
  const WarpJob job(plan, frame);
  const Line line = line_of(plan, frame.channels);
  for (int64_t y = 0; y < result.height; ++y) line(job, y, result.pixels + y * result.line_bytes());
  frame = result;
  return Status::ok();
}

}  // namespace dataline
