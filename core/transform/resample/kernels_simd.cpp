// The kernels in vector lanes, for the two arithmetics of 16-bit products (kernels.h); kExact takes the plain loops.
// Longer than most files: Highway compiles one file for each target, and all of these share its layout of a block.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>

#include "core/transform/resample/kernels.h"

#define HWY_TARGET_INCLUDE "core/transform/resample/kernels_simd.cpp"
#include "core/base/simd_targets.inc"

DATALINE_SIMD_BEGIN();
#if DATALINE_SIMD_LANES
namespace {
using D8 = hn::ScalableTag<uint8_t>;
using D16 = hn::ScalableTag<int16_t>;
using DU16 = hn::ScalableTag<uint16_t>;
using D32 = hn::ScalableTag<int32_t>;
using V16 = hn::Vec<D16>;
constexpr int64_t kBytes = HWY_LANES(uint8_t);
constexpr int64_t kWords = HWY_LANES(int16_t);  // lines of a block
constexpr int64_t kBlocks = kWords / 8;         // of 128 bits in a vector

// Bytes become words by interleaving within 128-bit blocks: the first half of each block goes to the lower vector. This is
// the position of the group of eight at `at` (a multiple of eight) of kBytes elements.
HWY_INLINE int64_t place_of(int64_t at) {
  const int64_t group = at % kBytes / 8;
  return at / kBytes * kBytes + ((group & 1) * kBlocks + (group >> 1)) * 8;
}

HWY_INLINE const uint8_t* bytes_at(const std::byte* from, int64_t at) {
  return reinterpret_cast<const uint8_t*>(from) + at;
}
HWY_INLINE const int16_t* words_at(const std::byte* from, int64_t at) {
  return reinterpret_cast<const int16_t*>(from) + at;
}

// --- First pass, lines first: pixel * 256 * weight >> 16.

template <int kTaps>  // 0: job.count of them
void rows_positive(const RowsJob& job) {
  const D8 d8;
  const DU16 d16;
  const int64_t count = kTaps > 0 ? kTaps : job.count;
  auto* out = reinterpret_cast<uint16_t*>(job.out);
  const auto zero = hn::Zero(d8);
  const auto start = hn::Set(d16, static_cast<uint16_t>(count >> 1));
  const auto weight = [&](int64_t i) HWY_ATTR { return hn::Set(d16, static_cast<uint16_t>(job.weights[i])); };
  const auto w0 = weight(0), w1 = weight(kTaps > 1 ? 1 : 0), w2 = weight(kTaps > 2 ? 2 : 0),
             w3 = weight(kTaps > 3 ? 3 : 0);
  int64_t at = 0;
  auto low = start, high = start;
  const auto add = [&](const uint8_t* from, hn::Vec<DU16> by) HWY_ATTR {
    const auto pixels = hn::LoadU(d8, from);
    low = hn::Add(low, hn::MulHigh(hn::BitCast(d16, hn::InterleaveLower(d8, zero, pixels)), by));
    high = hn::Add(high, hn::MulHigh(hn::BitCast(d16, hn::InterleaveUpper(d8, zero, pixels)), by));
  };
  for (; at + kBytes <= job.elements; at += kBytes) {
    low = high = start;
    if constexpr (kTaps > 0) {
      add(bytes_at(job.lines[0], at), w0);
      if constexpr (kTaps > 1) add(bytes_at(job.lines[1], at), w1);
      if constexpr (kTaps > 2) add(bytes_at(job.lines[2], at), w2);
      if constexpr (kTaps > 3) add(bytes_at(job.lines[3], at), w3);
    } else {
      for (int64_t i = 0; i < count; ++i) add(bytes_at(job.lines[i], at), weight(i));
    }
    hn::StoreU(low, d16, out + at);
    hn::StoreU(high, d16, out + at + kWords);
  }
  if (at == job.elements) return;
  low = high = start;
  for (int64_t i = 0; i < count; ++i) {  // the rest, where a whole vector would read beyond the line
    uint8_t rest[kBytes] = {};
    std::memcpy(rest, job.lines[i] + at, static_cast<size_t>(job.elements - at));
    add(rest, weight(i));
  }
  hn::StoreU(low, d16, out + at);
  hn::StoreU(high, d16, out + at + kWords);
}

void rows_from_bytes(const RowsJob& job) {
  constexpr decltype(&rows_from_bytes) kFew[] = {rows_positive<1>, rows_positive<2>, rows_positive<3>,
                                                 rows_positive<4>};
  return job.count >= 1 && job.count <= 4 ? kFew[job.count - 1](job) : rows_positive<0>(job);
}

// --- Second pass, columns first. Lines have room to be read in whole vectors.

void rows_from_words(const RowsJob& job) {
  const D16 d16;
  const hn::Half<D8> d8;
  auto* out = reinterpret_cast<uint8_t*>(job.out);
  const auto half = hn::Set(d16, 32);
  for (int64_t at = 0; at < job.elements; at += 2 * kWords) {
    auto left = half, right = half;
    for (int64_t i = 0; i < job.count; ++i) {
      const auto by = hn::Set(d16, job.weights[i]);
      const int16_t* line = words_at(job.lines[i], at);
      left = hn::Add(left, hn::MulFixedPoint15(hn::LoadU(d16, line), by));
      right = hn::Add(right, hn::MulFixedPoint15(hn::LoadU(d16, line + kWords), by));
    }
    hn::StoreU(hn::DemoteTo(d8, hn::ShiftRight<6>(left)), d8, out + at);
    hn::StoreU(hn::DemoteTo(d8, hn::ShiftRight<6>(right)), d8, out + at + kWords);
  }
}

void widen(const std::byte* from, int64_t elements, int16_t* out) {
  const D8 d8;
  const DU16 d16;
  const auto zero = hn::Zero(d8);
  auto* to = reinterpret_cast<uint16_t*>(out);
  const auto one = [&](const uint8_t* pixels_at, uint16_t* words) HWY_ATTR {
    const auto pixels = hn::LoadU(d8, pixels_at);
    hn::StoreU(hn::ShiftRight<1>(hn::BitCast(d16, hn::InterleaveLower(d8, zero, pixels))), d16, words);
    hn::StoreU(hn::ShiftRight<1>(hn::BitCast(d16, hn::InterleaveUpper(d8, zero, pixels))), d16,
               words + kWords);
  };
  int64_t at = 0;
  for (; at + kBytes <= elements; at += kBytes) one(bytes_at(from, at), to + at);
  if (at == elements) return;
  uint8_t rest[kBytes] = {};
  std::memcpy(rest, from + at, static_cast<size_t>(elements - at));
  one(rest, to + at);
}

// --- Lines to columns and back: in each 128-bit block, eight vectors of eight words are transposed.

// One step of it; three make the whole.
HWY_INLINE void riffle(const V16 (&in)[8], V16 (&out)[8]) {
  const D16 d;
  DATALINE_UNROLL
  for (int i = 0; i < 4; ++i) {
    out[2 * i] = hn::InterleaveLower(d, in[i], in[i + 4]);
    out[2 * i + 1] = hn::InterleaveUpper(d, in[i], in[i + 4]);
  }
}

HWY_INLINE void transpose(V16 (&v)[8]) {
  V16 a[8], b[8];
  riffle(v, a);
  riffle(a, b);
  riffle(b, v);
}

// Eight words at `at` of lines `line`, line + 8, ..: one a block.
HWY_INLINE V16 load_lines(const int16_t* const* lines, int64_t line, int64_t at) {
  const hn::Full128<int16_t> d128;
#if HWY_TARGET == HWY_SSE4 || HWY_TARGET == HWY_NEON
  return hn::LoadU(d128, lines[line] + at);
#else
  const hn::Half<D16> half;
#if HWY_TARGET == HWY_AVX2
  (void)half;
  return hn::Combine(D16(), hn::LoadU(d128, lines[line + 8] + at), hn::LoadU(d128, lines[line] + at));
#else
  return hn::Combine(
      D16(),
      hn::Combine(half, hn::LoadU(d128, lines[line + 24] + at), hn::LoadU(d128, lines[line + 16] + at)),
      hn::Combine(half, hn::LoadU(d128, lines[line + 8] + at), hn::LoadU(d128, lines[line] + at)));
#endif
#endif
}

HWY_INLINE void store_half(hn::Vec<hn::Full128<int16_t>> v, std::byte* to) {
  hn::StoreU(v, hn::Full128<int16_t>(), reinterpret_cast<int16_t*>(to));
}

// 16 bytes at `at` of lines `line`, line + 8, ..
HWY_INLINE void store_lines(V16 v, std::byte* const* lines, int64_t line, int64_t at) {
  [[maybe_unused]] const hn::Full128<int16_t> d128;
#if HWY_TARGET == HWY_SSE4 || HWY_TARGET == HWY_NEON
  store_half(v, lines[line] + at);
#else
#if HWY_TARGET == HWY_AVX2
  const auto low = v;
#else
  const hn::Half<D16> half;
  const auto low = hn::LowerHalf(half, v), high = hn::UpperHalf(half, v);
  store_half(hn::LowerHalf(d128, high), lines[line + 16] + at);
  store_half(hn::UpperHalf(d128, high), lines[line + 24] + at);
#endif
  store_half(hn::LowerHalf(d128, low), lines[line] + at);
  store_half(hn::UpperHalf(d128, low), lines[line + 8] + at);
#endif
}

// Elements [begin, end) of the lines, multiples of eight, as columns.
void turn(const int16_t* const* lines, int64_t begin, int64_t end, int16_t* turned) {
  const D16 d;
  for (int64_t at = begin; at < end; at += 8, turned += 8 * kWords) {
    const int64_t place = place_of(at);
    V16 v[8];
    DATALINE_UNROLL
    for (int i = 0; i < 8; ++i) v[i] = load_lines(lines, i, place);
    transpose(v);
    DATALINE_UNROLL
    for (int i = 0; i < 8; ++i) hn::StoreU(v[i], d, turned + i * kWords);
  }
}

void turn_back_bytes(const int16_t* results, int64_t elements, std::byte* const* out, int64_t at) {
  const D16 d;
  for (int64_t e = 0; e < elements; e += 16, results += 16 * kWords) {
    V16 v[8];
    DATALINE_UNROLL
    for (int i = 0; i < 8; ++i)  // 0 .. 255 each
      v[i] = hn::Or(hn::LoadU(d, results + 2 * i * kWords),
                    hn::ShiftLeft<8>(hn::LoadU(d, results + (2 * i + 1) * kWords)));
    transpose(v);
    DATALINE_UNROLL
    for (int i = 0; i < 8; ++i) store_lines(v[i], out, i, at + e);
  }
}

void turn_back_words(const int16_t* results, int64_t elements, std::byte* const* out, int64_t at) {
  const D16 d;
  for (int64_t e = 0; e < elements; e += 8, results += 8 * kWords) {
    V16 v[8];
    DATALINE_UNROLL
    for (int i = 0; i < 8; ++i) v[i] = hn::LoadU(d, results + i * kWords);
    transpose(v);
    DATALINE_UNROLL
    for (int i = 0; i < 8; ++i) store_lines(v[i], out, i, 2 * (at + e));
  }
}

// --- Columns blended.

// Outputs [first, first + count) from columns that begin at element `origin`. kTaps 0: job.taps.stride of them.
template <int kChannels, int kTaps, bool kSigned>
void blend(const ColumnsJob& job, int64_t first, int64_t count, int64_t origin) {
  const D16 d;
  const D32 d32;
  const int64_t taps = kTaps > 0 ? kTaps : job.taps.stride;
  const int32_t* weights = job.taps.pairs + first * taps;
  int16_t* out = job.results;
  const auto start = hn::Set(d, kSigned ? 0 : 64);
  for (int64_t x = first; x < first + count; ++x, weights += taps, out += kChannels * kWords) {
    const int16_t* from = job.turned + (job.taps.first[x] * kChannels - origin) * kWords;
    V16 sum[kChannels];
    DATALINE_UNROLL
    for (int c = 0; c < kChannels; ++c) sum[c] = start;
    const auto add = [&](int64_t t) HWY_ATTR {
      const auto by = hn::BitCast(d, hn::Set(d32, weights[t]));
      DATALINE_UNROLL
      for (int c = 0; c < kChannels; ++c)
        sum[c] = hn::Add(sum[c], hn::MulFixedPoint15(hn::LoadU(d, from + (t * kChannels + c) * kWords), by));
    };
    if constexpr (kTaps > 0) {
      DATALINE_UNROLL
      for (int t = 0; t < kTaps; ++t) add(t);
    } else {
      for (int64_t t = 0; t < taps; ++t) add(t);
    }
    DATALINE_UNROLL
    for (int c = 0; c < kChannels; ++c) {
      const auto value = kSigned
                             ? hn::ShiftLeft<1>(hn::Min(hn::Max(sum[c], hn::Zero(d)), hn::Set(d, 255 << 6)))
                             : hn::ShiftRight<7>(sum[c]);
      hn::StoreU(value, d, out + c * kWords);
    }
  }
}

using Blend = void (*)(const ColumnsJob& job, int64_t first, int64_t count, int64_t origin);

template <int kChannels, bool kSigned>
Blend blend_of_taps(int64_t taps) {
  constexpr Blend kFew[] = {blend<kChannels, 2, kSigned>, blend<kChannels, 3, kSigned>,
                            blend<kChannels, 4, kSigned>, blend<kChannels, 5, kSigned>,
                            blend<kChannels, 6, kSigned>};
  return taps >= 2 && taps <= 6 ? kFew[taps - 2] : blend<kChannels, 0, kSigned>;
}

template <bool kSigned>
Blend blend_of(const ColumnsJob& job) {
  if (job.channels == 1) return blend_of_taps<1, kSigned>(job.taps.stride);
  if (job.channels == 3) return blend_of_taps<3, kSigned>(job.taps.stride);
  return blend_of_taps<4, kSigned>(job.taps.stride);
}

template <bool kSigned>
void columns(const ColumnsJob& job) {
  const Blend blend_strip = blend_of<kSigned>(job);
  for (int64_t first = 0; first < job.outputs; first += job.strip) {
    const int64_t count = std::min(job.strip, job.outputs - first);
    const int64_t a = job.taps.first[first], b = job.taps.first[first + count - 1];
    const int64_t begin = std::min(a, b) * job.channels / 8 * 8;
    turn(job.lines, begin, (std::max(a, b) + job.taps.stride) * job.channels, job.turned);
    blend_strip(job, first, count, begin);
    if (kSigned)
      turn_back_words(job.results, count * job.channels, job.out, first * job.channels);
    else
      turn_back_bytes(job.results, count * job.channels, job.out, first * job.channels);
  }
}

ResampleKernels kernels_of(Arithmetic arithmetic) {
  if (arithmetic == Arithmetic::kExact) return plain_resample_kernels(arithmetic);
  return {kWords, rows_from_bytes, rows_from_words, widen, columns<false>, columns<true>};
}

}  // namespace
#endif
DATALINE_SIMD_END();

#if DATALINE_SIMD_ONCE
namespace dataline {
ResampleKernels resample_kernels(SimdTarget target, Arithmetic arithmetic) {
  using Finder = decltype(&plain_resample_kernels);
  return DATALINE_SIMD_PICK(target, Finder, kernels_of, &plain_resample_kernels)(arithmetic);
}
}  // namespace dataline
#endif
