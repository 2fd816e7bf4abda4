// Vector loops of the colour operators, in f32 with every product and sum rounded separately, so that each target writes the
// bytes of the plain loops. A vector holds one pixel per f32 lane; the remainder goes through the plain loop.
// SPDX-License-Identifier: Apache-2.0
#include "core/base/simd.h"
#include "core/transform/color/kernels.h"

#define HWY_TARGET_INCLUDE "core/transform/color/color_simd.cpp"
#include "core/base/simd_targets.inc"

DATALINE_SIMD_BEGIN();
#if DATALINE_SIMD_LANES
namespace {
using DF = hn::ScalableTag<float>;
using DI = hn::RebindToSigned<DF>;
using D8 = hn::Rebind<uint8_t, DF>;
using VF = hn::Vec<DF>;
using V8 = hn::Vec<D8>;
constexpr int64_t kLanes = HWY_LANES(float);

HWY_INLINE VF to_float(V8 bytes) { return hn::ConvertTo(DF(), hn::PromoteTo(DI(), bytes)); }
HWY_INLINE V8 to_bytes(VF values) { return hn::DemoteTo(D8(), hn::ConvertTo(DI(), values)); }  // cuts off
HWY_INLINE VF whole(VF values) { return hn::ConvertTo(DF(), hn::ConvertTo(DI(), values)); }
HWY_INLINE VF constant(float value) { return hn::Set(DF(), value); }

HWY_INLINE void load_rgb(const uint8_t* from, VF& r, VF& g, VF& b) {
  V8 r8, g8, b8;
  hn::LoadInterleaved3(D8(), from, r8, g8, b8);
  r = to_float(r8);
  g = to_float(g8);
  b = to_float(b8);
}
HWY_INLINE void store_rgb(VF r, VF g, VF b, uint8_t* to) {
  hn::StoreInterleaved3(to_bytes(r), to_bytes(g), to_bytes(b), D8(), to);
}

HWY_INLINE VF gray(VF r, VF g, VF b) {
  const VF two = hn::Add(hn::Mul(r, constant(kRedWeight)), hn::Mul(g, constant(kGreenWeight)));
  return whole(hn::Add(two, hn::Mul(b, constant(kBlueWeight))));
}

HWY_INLINE VF clamped(VF value, float max) { return hn::Min(hn::Max(value, hn::Zero(DF())), constant(max)); }

// blend_parts of kernels.h.
HWY_INLINE VF blended(VF x, VF ratio, VF high, VF low) {
  const VF product = hn::Mul(x, ratio);
  const VF sum = hn::Add(product, high);
  const VF shadow = hn::Sub(sum, product);
  const VF lost = hn::Add(hn::Sub(product, hn::Sub(sum, shadow)), hn::Sub(high, shadow));
  return clamped(hn::Add(sum, hn::Add(lost, low)), 255.0F);
}

int64_t gray_sum(const uint8_t* pixels, int64_t count) {
  constexpr int64_t kBlock = 1 << 15;  // no i32 lane overflows within a block
  const DI di;
  int64_t total = 0, i = 0;
  while (i + kLanes <= count) {
    const int64_t end = HWY_MIN(count, i + kBlock);
    auto sum = hn::Zero(di);
    for (; i + kLanes <= end; i += kLanes) {
      VF r, g, b;
      load_rgb(pixels + 3 * i, r, g, b);
      sum = hn::Add(sum, hn::ConvertTo(di, gray(r, g, b)));
    }
    HWY_ALIGN int32_t lanes[kLanes];
    hn::Store(sum, di, lanes);
    for (const int32_t lane : lanes) total += lane;
  }
  return total + plain_color_kernels().gray_sum(pixels + 3 * i, count - i);
}

template <int64_t kChannels>
void gray_to(const uint8_t* pixels, uint8_t* to, int64_t count) {
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    VF r, g, b;
    load_rgb(pixels + 3 * i, r, g, b);
    const V8 level = to_bytes(gray(r, g, b));
    if constexpr (kChannels == 3)
      hn::StoreInterleaved3(level, level, level, D8(), to + 3 * i);
    else
      hn::StoreU(level, D8(), to + i);
  }
  plain_color_kernels().to_gray(pixels + 3 * i, to + kChannels * i, kChannels, count - i);
}

void to_gray(const uint8_t* pixels, uint8_t* to, int64_t channels, int64_t count) {
  channels == 3 ? gray_to<3>(pixels, to, count) : gray_to<1>(pixels, to, count);
}

void saturate(uint8_t* pixels, int64_t count, const Blend& blend) {
  const VF ratio = constant(blend.ratio), high = constant(blend.high), low = constant(blend.low);
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    VF r, g, b;
    load_rgb(pixels + 3 * i, r, g, b);
    const VF level = gray(r, g, b);
    const VF rest_high = hn::Mul(level, high), rest_low = hn::Mul(level, low);
    store_rgb(blended(r, ratio, rest_high, rest_low), blended(g, ratio, rest_high, rest_low),
              blended(b, ratio, rest_high, rest_low), pixels + 3 * i);
  }
  plain_color_kernels().saturate(pixels + 3 * i, count - i, blend);
}

// shift_hue of kernels.h.
HWY_INLINE void shifted(VF& r, VF& g, VF& b, VF shift) {
  const VF max = hn::Max(hn::Max(r, g), b), min = hn::Min(hn::Min(r, g), b);
  const VF one = constant(1.0F);
  const auto grey = hn::Eq(max, min);
  const VF range = hn::Sub(max, min);
  const VF saturation = hn::Div(range, hn::IfThenElse(grey, one, max));
  const VF divisor = hn::IfThenElse(grey, one, range);
  const VF rc = hn::Div(hn::Sub(max, r), divisor);
  const VF gc = hn::Div(hn::Sub(max, g), divisor);
  const VF bc = hn::Div(hn::Sub(max, b), divisor);
  const VF from_g = hn::Sub(hn::Add(rc, constant(2.0F)), bc);
  const VF from_b = hn::Sub(hn::Add(gc, constant(4.0F)), rc);
  VF hue = hn::IfThenElse(hn::Eq(max, r), hn::Sub(bc, gc), hn::IfThenElse(hn::Eq(max, g), from_g, from_b));
  hue = hn::Add(hn::Mul(hue, constant(static_cast<float>(1.0 / 6.0))), one);
  hue = hn::Sub(hue, hn::Floor(hue));
  hue = hn::Add(hue, shift);
  hue = hn::Sub(hue, hn::Floor(hue));
  const VF six = hn::Mul(hue, constant(6.0F));
  const VF sextant = hn::Floor(six);
  const VF part = hn::Sub(six, sextant);
  const VF scaled = hn::Mul(saturation, part), rest = hn::Sub(one, saturation);
  const VF q = clamped(hn::Mul(hn::Sub(one, scaled), max), 1.0F);
  const VF t = clamped(hn::Mul(hn::Add(scaled, rest), max), 1.0F);
  const VF p = clamped(hn::Mul(rest, max), 1.0F);
  const auto at1 = hn::Eq(sextant, constant(1.0F)), at2 = hn::Eq(sextant, constant(2.0F));
  const auto at3 = hn::Eq(sextant, constant(3.0F)), at4 = hn::Eq(sextant, constant(4.0F));
  const auto at5 = hn::Eq(sextant, constant(5.0F));
  r = hn::IfThenElse(at1, q, hn::IfThenElse(hn::Or(at2, at3), p, hn::IfThenElse(at4, t, max)));
  g = hn::IfThenElse(hn::Or(at1, at2), max, hn::IfThenElse(at3, q, hn::IfThenElse(hn::Or(at4, at5), p, t)));
  b = hn::IfThenElse(at2, t, hn::IfThenElse(hn::Or(at3, at4), max, hn::IfThenElse(at5, q, p)));
}

void shift_hues(uint8_t* pixels, int64_t count, float shift) {
  const VF unit = constant(static_cast<float>(1.0 / 255.0));
  const VF byte = constant(static_cast<float>(255.0 + 1.0 - 1e-3));
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    VF r, g, b;
    load_rgb(pixels + 3 * i, r, g, b);
    r = hn::Mul(r, unit);
    g = hn::Mul(g, unit);
    b = hn::Mul(b, unit);
    shifted(r, g, b, constant(shift));
    store_rgb(hn::Mul(r, byte), hn::Mul(g, byte), hn::Mul(b, byte), pixels + 3 * i);
  }
  plain_color_kernels().shift_hue(pixels + 3 * i, count - i, shift);
}

// The sum of the 3x3 neighbourhood, with the middle pixel not yet weighted.
HWY_INLINE hn::Vec<DI> three(const uint8_t* at, int64_t channels) {
  const DI di;
  const D8 d8;
  const auto sides = hn::Add(hn::PromoteTo(di, hn::LoadU(d8, at - channels)),
                             hn::PromoteTo(di, hn::LoadU(d8, at + channels)));
  return hn::Add(sides, hn::PromoteTo(di, hn::LoadU(d8, at)));
}

void sharpen(const uint8_t* above, const uint8_t* line, const uint8_t* below, uint8_t* to, int64_t bytes,
             int64_t channels, const Blend& blend) {
  const int64_t inner = bytes - 2 * channels;
  if (inner < kLanes) return plain_color_kernels().sharpen(above, line, below, to, bytes, channels, blend);
  const VF one = constant(1.0F), high = constant(blend.high), low = constant(blend.low);
  const DI di;
  const auto at = [&](int64_t i) HWY_ATTR {
    const auto middle = hn::PromoteTo(di, hn::LoadU(D8(), line + i));
    auto sum =
        hn::Add(hn::Add(three(above + i, channels), three(below + i, channels)), three(line + i, channels));
    sum = hn::Add(hn::Add(sum, hn::ShiftLeft<2>(middle)), hn::Set(di, 6));
    // sum / 13, exact for sums below 2^15.
    const auto blurred = hn::ShiftRight<16>(hn::Mul(sum, hn::Set(di, 5042)));
    const VF away = hn::ConvertTo(DF(), hn::Sub(blurred, middle));
    const VF out = blended(hn::ConvertTo(DF(), middle), one, hn::Mul(away, high), hn::Mul(away, low));
    hn::StoreU(to_bytes(out), D8(), to + i);
  };
  for (int64_t c = 0; c < channels; ++c) {
    to[c] = line[c];
    to[bytes - 1 - c] = line[bytes - 1 - c];
  }
  int64_t i = channels;
  for (; i + kLanes <= bytes - channels; i += kLanes) at(i);
  if (i < bytes - channels) at(bytes - channels - kLanes);
}

// kVectors vectors from `i` on, to hide the latency of the sums.
template <int64_t kVectors>
HWY_INLINE void columns_at(const ColumnTaps& taps, float* to, int64_t i) {
  const DF d;
  const DI di;
  const D8 d8;
  const int64_t half = taps.taps / 2;
  VF sums[kVectors];
  const VF middle = hn::Set(d, taps.weights[half]);
  DATALINE_UNROLL
  for (int64_t v = 0; v < kVectors; ++v)
    sums[v] = hn::Mul(to_float(hn::LoadU(d8, taps.lines[half] + i + v * kLanes)), middle);
  for (int64_t k = 0; k < half; ++k) {
    const uint8_t* const upper = taps.lines[k] + i;
    const uint8_t* const lower = taps.lines[taps.taps - 1 - k] + i;
    const VF weight = hn::Set(d, taps.weights[k]);
    DATALINE_UNROLL
    for (int64_t v = 0; v < kVectors; ++v) {
      const auto pair = hn::Add(hn::PromoteTo(di, hn::LoadU(d8, upper + v * kLanes)),
                                hn::PromoteTo(di, hn::LoadU(d8, lower + v * kLanes)));
      sums[v] = hn::Add(sums[v], hn::Mul(hn::ConvertTo(d, pair), weight));
    }
  }
  DATALINE_UNROLL
  for (int64_t v = 0; v < kVectors; ++v) hn::StoreU(sums[v], d, to + i + v * kLanes);
}

void blur_columns(const ColumnTaps& taps, float* to, int64_t count) {
  if (count < kLanes) return plain_color_kernels().blur_columns(taps, to, count);
  int64_t i = 0;
  for (; i + 4 * kLanes <= count; i += 4 * kLanes) columns_at<4>(taps, to, i);
  for (; i + kLanes <= count; i += kLanes) columns_at<1>(taps, to, i);
  if (i < count) columns_at<1>(taps, to, count - kLanes);
}

template <int64_t kVectors>
HWY_INLINE void line_at(const float* from, const float* weights, int64_t half, int64_t channels,
                        uint8_t* to) {
  const DF d;
  VF sums[kVectors];
  const VF middle = hn::Set(d, weights[half]);
  DATALINE_UNROLL
  for (int64_t v = 0; v < kVectors; ++v)
    sums[v] = hn::Mul(hn::LoadU(d, from + half * channels + v * kLanes), middle);
  for (int64_t k = 0; k < half; ++k) {
    const float* const left = from + k * channels;
    const float* const right = from + (2 * half - k) * channels;
    const VF weight = hn::Set(d, weights[k]);
    DATALINE_UNROLL
    for (int64_t v = 0; v < kVectors; ++v) {
      const VF pair = hn::Add(hn::LoadU(d, left + v * kLanes), hn::LoadU(d, right + v * kLanes));
      sums[v] = hn::Add(sums[v], hn::Mul(pair, weight));
    }
  }
  const VF no_fraction = hn::Set(d, 8388608.0F);  // as round_to_byte of kernels_plain.cpp
  DATALINE_UNROLL
  for (int64_t v = 0; v < kVectors; ++v) {
    const VF rounded = hn::Sub(hn::Add(sums[v], no_fraction), no_fraction);
    hn::StoreU(to_bytes(hn::Min(rounded, hn::Set(d, 255.0F))), D8(), to + v * kLanes);
  }
}

void blur_line(const float* from, const float* weights, int64_t taps, int64_t channels, uint8_t* to,
               int64_t count) {
  if (count < kLanes) return plain_color_kernels().blur_line(from, weights, taps, channels, to, count);
  const int64_t half = taps / 2;
  int64_t i = 0;
  for (; i + 4 * kLanes <= count; i += 4 * kLanes) line_at<4>(from + i, weights, half, channels, to + i);
  for (; i + kLanes <= count; i += kLanes) line_at<1>(from + i, weights, half, channels, to + i);
  if (i < count) line_at<1>(from + count - kLanes, weights, half, channels, to + count - kLanes);
}

ColorKernels lanes_kernels() {
  return {.gray_sum = gray_sum,
          .to_gray = to_gray,
          .saturate = saturate,
          .shift_hue = shift_hues,
          .sharpen = sharpen,
          .blur_columns = blur_columns,
          .blur_line = blur_line};
}
}  // namespace
#endif
DATALINE_SIMD_END();

#if DATALINE_SIMD_ONCE
namespace dataline {
ColorKernels color_kernels(SimdTarget target) {
  using Finder = ColorKernels (*)();
  return DATALINE_SIMD_PICK(target, Finder, lanes_kernels, &plain_color_kernels)();
}
}  // namespace dataline
#endif
