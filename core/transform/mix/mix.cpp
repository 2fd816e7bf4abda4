// SPDX-License-Identifier: Apache-2.0
#include "core/transform/mix/mix.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>

#include "core/base/portable_math.h"
#include "core/base/random.h"
#include "core/transform/elements/kernels.h"

namespace dataline {
namespace {

// Draws 0 and 1 give the centre of the rectangle, the rest lambda.
enum Number : int64_t { kMiddleX, kMiddleY, kLambda };

constexpr int64_t kBlock = 512;  // elements; halves are converted to f32 and back

template <typename Real>
void blend(Real* to, const Real* previous, int64_t count, Real share, Real rest) {
  constexpr int64_t kLanes = 16;  // a constant inner loop, so that the compiler vectorizes it
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    Real now[kLanes], before[kLanes];
    std::memcpy(now, to + i, sizeof now);
    std::memcpy(before, previous + i, sizeof before);
    for (int64_t lane = 0; lane < kLanes; ++lane) now[lane] = before[lane] * rest + now[lane] * share;
    std::memcpy(to + i, now, sizeof now);
  }
  for (; i < count; ++i) to[i] = previous[i] * rest + to[i] * share;
}

// From the last row to the first, so that the row before is still unchanged; row 0 uses a copy of the last one.
template <typename Combine>
void for_each_pair(const MixRows& rows, Combine combine) {
  if (rows.count == 0 || rows.row_bytes == 0) return;
  const auto row = [&rows](int64_t index) { return rows.first + index * rows.stride; };
  std::memcpy(rows.scratch, row(rows.count - 1), static_cast<size_t>(rows.row_bytes));
  for (int64_t i = rows.count - 1; i > 0; --i) combine(row(i), row(i - 1));
  combine(row(0), rows.scratch);
}

template <typename Real>
void blend_reals(const MixRows& rows, double lambda) {
  const int64_t count = rows.row_bytes / static_cast<int64_t>(sizeof(Real));
  const Real share = static_cast<Real>(lambda), rest = static_cast<Real>(1 - lambda);
  for_each_pair(rows, [=](std::byte* to, const std::byte* previous) {
    blend(reinterpret_cast<Real*>(to), reinterpret_cast<const Real*>(previous), count, share, rest);
  });
}

void blend_halves(const MixRows& rows, DType dtype, double lambda, SimdTarget target) {
  const ElementKernel widen = cast_kernel(target, dtype, DType::kF32);
  const ElementKernel narrow = cast_kernel(target, DType::kF32, dtype);
  const float share = static_cast<float>(lambda), rest = static_cast<float>(1 - lambda);
  for_each_pair(rows, [&](std::byte* to, const std::byte* previous) {
    alignas(64) float now[kBlock];
    alignas(64) float before[kBlock];
    for (int64_t begin = 0; begin < rows.row_bytes; begin += 2 * kBlock) {
      const int64_t count = std::min(kBlock, (rows.row_bytes - begin) / 2);
      widen(to + begin, reinterpret_cast<std::byte*>(now), count, {});
      widen(previous + begin, reinterpret_cast<std::byte*>(before), count, {});
      blend(now, before, count, share, rest);
      narrow(reinterpret_cast<const std::byte*>(now), to + begin, count, {});
    }
  });
}

// An attempt fails with a probability of at most 1/2.
constexpr int64_t kMixAttempts = 1000;

// In (0, 1), 53 bits.
double open_unit(const Draws& draws, int64_t number) {
  return (static_cast<double>(draws.bits(number) >> 11) + 0.5) * 0x1.0p-53;
}

std::optional<double> by_powers(double u, double v, double a) {
  double x = portable_log(u) / a, y = portable_log(v) / a;
  if (portable_exp(x) + portable_exp(y) > 1) return std::nullopt;
  const double larger = std::max(x, y);
  x = portable_exp(x - larger);
  y = portable_exp(y - larger);
  return x / (x + y);
}

std::optional<double> by_disc(double u, double v, double a) {
  u = 2 * u - 1;
  v = 2 * v - 1;
  const double s = u * u + v * v;
  if (s > 1 || s < 0x1.0p-100) return std::nullopt;
  const double power = portable_exp(portable_log(s) * (2 / (2 * a - 1)));
  return 0.5 + u * v / s * std::sqrt(std::max(1 - power, 0.0));
}

}  // namespace

double draw_symmetric_beta(const Draws& draws, int64_t first, double a) {
  for (int64_t attempt = 0; attempt < kMixAttempts; ++attempt) {
    const double u = open_unit(draws, first + 2 * attempt), v = open_unit(draws, first + 2 * attempt + 1);
    const std::optional<double> value = a <= 1 ? by_powers(u, v, a) : by_disc(u, v, a);
    if (value) return static_cast<double>(static_cast<float>(*value));
  }
  return 0.5;
}

MixDraw draw_mix(const BatchMix& mix, uint64_t seed, int64_t epoch, int64_t step) {
  const Draws draws(random_key(seed, static_cast<uint64_t>(epoch), Domain::kMix), static_cast<uint64_t>(step),
                    mix.place);
  MixDraw out;
  out.lambda = draw_symmetric_beta(draws, kLambda, mix.alpha);
  if (mix.kind == MixKind::kMixup) return out;
  const int64_t height = mix.shape.height, width = mix.shape.width;
  const int64_t x = draws.below(kMiddleX, width), y = draws.below(kMiddleY, height);
  const double half = 0.5 * std::sqrt(1 - out.lambda);
  const auto half_width = static_cast<int64_t>(half * static_cast<double>(width));
  const auto half_height = static_cast<int64_t>(half * static_cast<double>(height));
  out.left = std::max<int64_t>(x - half_width, 0);
  out.top = std::max<int64_t>(y - half_height, 0);
  out.right = std::min(x + half_width, width);
  out.bottom = std::min(y + half_height, height);
  const int64_t area = (out.right - out.left) * (out.bottom - out.top);
  out.lambda = 1 - static_cast<double>(area) / static_cast<double>(mix.shape.pixels());
  return out;
}

void blend_rows(const MixRows& rows, DType dtype, double lambda, SimdTarget target) {
  if (dtype == DType::kF64) return blend_reals<double>(rows, lambda);
  if (dtype == DType::kF32) return blend_reals<float>(rows, lambda);
  blend_halves(rows, dtype, lambda, target);
}

void paste_rows(const MixRows& rows, const ImageShape& shape, int64_t element_bytes, const MixDraw& draw) {
  const bool planar = shape.layout == ImageLayout::kPlanar;
  const int64_t planes = planar ? shape.channels : 1;
  const int64_t pixel_bytes = element_bytes * (planar ? 1 : shape.channels);
  const auto bytes = static_cast<size_t>((draw.right - draw.left) * pixel_bytes);
  if (bytes == 0) return;
  for_each_pair(rows, [&](std::byte* to, const std::byte* previous) {
    for (int64_t plane = 0; plane < planes; ++plane) {
      for (int64_t y = draw.top; y < draw.bottom; ++y) {
        const int64_t at = ((plane * shape.height + y) * shape.width + draw.left) * pixel_bytes;
        std::memcpy(to + at, previous + at, bytes);
      }
    }
  });
}

}  // namespace dataline
