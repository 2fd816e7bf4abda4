// Elements moved, not changed: rows gathered, pixels of three channels to planes and back, pixels in reverse order. Other
// channel counts use the plain loops.
//
// Gathering is the hottest loop of the loader. The loads of a group come before its stores: with alternating loads and stores
// the hardware prefetcher runs past the end of every row (784-byte rows of a 4.7 GB map, Zen 4: 130 ns per row instead of 95).
// Stores are not streaming: streaming stores cost three times as much into slots that are in the cache.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>

#include "core/base/simd.h"
#include "core/transform/elements/kernels.h"
#include "core/transform/elements/row_copy.h"

#define HWY_TARGET_INCLUDE "core/transform/elements/move_simd.cpp"
#include "core/base/simd_targets.inc"

DATALINE_SIMD_BEGIN();
#if DATALINE_SIMD_LANES
// --- Rows.

using D8 = hn::ScalableTag<uint8_t>;
using V8 = hn::Vec<D8>;
constexpr int64_t kVectorBytes = HWY_LANES(uint8_t);
constexpr int kMaxVectors = 8;
constexpr int kGroup = 4;

HWY_INLINE V8 load(const std::byte* from) { return hn::LoadU(D8(), reinterpret_cast<const uint8_t*>(from)); }
HWY_INLINE void store(V8 value, std::byte* to) { hn::StoreU(value, D8(), reinterpret_cast<uint8_t*>(to)); }

// More than kVectors - 1 vectors and at most kVectors: the last one ends at the row's end.
template <int kVectors>
HWY_INLINE void copy_short(const std::byte* from, std::byte* to, int64_t bytes) {
  V8 held[kVectors];
#pragma GCC unroll 8
  for (int i = 0; i < kVectors - 1; ++i) held[i] = load(from + i * kVectorBytes);
  held[kVectors - 1] = load(from + bytes - kVectorBytes);
#pragma GCC unroll 8
  for (int i = 0; i < kVectors - 1; ++i) store(held[i], to + i * kVectorBytes);
  store(held[kVectors - 1], to + bytes - kVectorBytes);
}

// At least kMaxVectors vectors. Stores between the first and the last are aligned.
HWY_INLINE void copy_long(const std::byte* from, std::byte* to, int64_t bytes) {
  const V8 last = load(from + bytes - kVectorBytes);
  store(load(from), to);
  int64_t i = kVectorBytes - static_cast<int64_t>(reinterpret_cast<uintptr_t>(to) & (kVectorBytes - 1));
  for (; i + kGroup * kVectorBytes < bytes; i += kGroup * kVectorBytes) {
    const V8 first = load(from + i);
    const V8 second = load(from + i + kVectorBytes);
    const V8 third = load(from + i + 2 * kVectorBytes);
    const V8 fourth = load(from + i + 3 * kVectorBytes);
    store(first, to + i);
    store(second, to + i + kVectorBytes);
    store(third, to + i + 2 * kVectorBytes);
    store(fourth, to + i + 3 * kVectorBytes);
  }
  for (; i + kVectorBytes < bytes; i += kVectorBytes) store(load(from + i), to + i);
  store(last, to + bytes - kVectorBytes);
}

// kVectors 0: any length.
template <int kVectors>
void copy_rows(const RowCopy& copy) {
  const int64_t bytes = copy.row_bytes;
  const int64_t ahead = prefetch_rows(bytes);
  for (int64_t i = 0; i < ahead && i < copy.count; ++i)
    prefetch_row(copy.source[i], copy.source_offset, bytes);
  for (int64_t i = 0; i < copy.count; ++i) {
    if (i + ahead < copy.count) prefetch_row(copy.source[i + ahead], copy.source_offset, bytes);
    if (copy.source[i] == nullptr) continue;
    const std::byte* from = copy.source[i] + copy.source_offset;
    std::byte* to = copy.target + i * copy.target_stride;
    if constexpr (kVectors == 0)
      copy_long(from, to, bytes);
    else
      copy_short<kVectors>(from, to, bytes);
  }
}

HWY_INLINE bool all_present(const RowCopy& copy) {
  using D64 = hn::ScalableTag<uint64_t>;
  constexpr int64_t kWidth = HWY_LANES(uint64_t);
  const D64 d;
  auto absent = hn::Zero(d);
  int64_t i = 0;
  for (; i + kWidth <= copy.count; i += kWidth) {
    const auto rows = hn::LoadU(d, reinterpret_cast<const uint64_t*>(copy.source + i));
    absent = hn::Or(absent, hn::VecFromMask(d, hn::Eq(rows, hn::Zero(d))));
  }
  bool present = hn::AllTrue(d, hn::Eq(absent, hn::Zero(d)));
  for (; i < copy.count; ++i) present &= copy.source[i] != nullptr;
  return present;
}

template <int64_t kBytes, bool kOverlap>
void copy_rows_small(const RowCopy& copy) {
  copy_small<kBytes, kOverlap>(copy, all_present(copy));
}

RowCopyKernel copy_of(int64_t bytes) {
  const auto find = []<int64_t kBytes, bool kOverlap>() -> RowCopyKernel {
    return copy_rows_small<kBytes, kOverlap>;
  };
  if (bytes <= kSmallRowLimit) return small_row_kernel(bytes, find);
  constexpr RowCopyKernel kShort[] = {copy_rows<2>, copy_rows<3>, copy_rows<4>,          copy_rows<5>,
                                      copy_rows<6>, copy_rows<7>, copy_rows<kMaxVectors>};
  const int64_t vectors = (bytes + kVectorBytes - 1) / kVectorBytes;  // 2 or more
  return vectors <= kMaxVectors ? kShort[vectors - 2] : copy_rows<0>;
}

// --- Planes and reversed pixels.

template <typename T>
HWY_INLINE const T* at(const std::byte* from, int64_t index) {
  return reinterpret_cast<const T*>(from) + index;
}
template <typename T>
HWY_INLINE T* at(std::byte* to, int64_t index) {
  return reinterpret_cast<T*>(to) + index;
}

// one(i) does pixels [i, i + kWidth); the last one may repeat some.
template <int64_t kWidth, typename One>
HWY_INLINE void each_vector(int64_t pixels, One one) {
  int64_t i = 0;
  for (; i + kWidth <= pixels; i += kWidth) one(i);
  if (i < pixels) one(pixels - kWidth);
}

template <typename T, bool kSplit>
void three_planes(const std::byte* from, std::byte* to, int64_t pixels, int64_t channels,
                  int64_t plane_stride) {
  constexpr int64_t kWidth = HWY_LANES(T);
  if (pixels < kWidth)
    return plain_plane_kernel(kSplit, sizeof(T), channels)(from, to, pixels, channels, plane_stride);
  each_vector<kWidth>(pixels, [=](int64_t i) HWY_ATTR {
    const hn::ScalableTag<T> d;
    hn::Vec<decltype(d)> r, g, b;
    if constexpr (kSplit) {
      hn::LoadInterleaved3(d, at<T>(from, 3 * i), r, g, b);
      hn::StoreU(r, d, at<T>(to, i));
      hn::StoreU(g, d, at<T>(to + plane_stride, i));
      hn::StoreU(b, d, at<T>(to + 2 * plane_stride, i));
    } else {
      r = hn::LoadU(d, at<T>(from, i));
      g = hn::LoadU(d, at<T>(from + plane_stride, i));
      b = hn::LoadU(d, at<T>(from + 2 * plane_stride, i));
      hn::StoreInterleaved3(r, g, b, d, at<T>(to, 3 * i));
    }
  });
}

// Highway reverses lanes of 16 bits and more; bytes are swapped within them afterwards.
HWY_INLINE V8 reversed(V8 bytes) {
  const hn::Repartition<uint16_t, D8> d16;
  const auto pairs = hn::Reverse(d16, hn::BitCast(d16, bytes));
  return hn::BitCast(D8(), hn::Or(hn::ShiftLeft<8>(pairs), hn::ShiftRight<8>(pairs)));
}
template <typename V>
HWY_INLINE V reversed(V value) {
  return hn::Reverse(hn::DFromV<V>(), value);
}

template <typename T>
void reverse_one(const std::byte* from, std::byte* to, int64_t pixels, int64_t) {
  constexpr int64_t kWidth = HWY_LANES(T);
  if (pixels < kWidth) return plain_reverse_kernel(sizeof(T))(from, to, pixels, sizeof(T));
  each_vector<kWidth>(pixels, [=](int64_t i) HWY_ATTR {
    const hn::ScalableTag<T> d;
    hn::StoreU(reversed(hn::LoadU(d, at<T>(from, pixels - kWidth - i))), d, at<T>(to, i));
  });
}

void reverse_three(const std::byte* from, std::byte* to, int64_t pixels, int64_t) {
  if (pixels < kVectorBytes) return plain_reverse_kernel(3)(from, to, pixels, 3);
  each_vector<kVectorBytes>(pixels, [=](int64_t i) HWY_ATTR {
    V8 r, g, b;
    hn::LoadInterleaved3(D8(), at<uint8_t>(from, 3 * (pixels - kVectorBytes - i)), r, g, b);
    hn::StoreInterleaved3(reversed(r), reversed(g), reversed(b), D8(), at<uint8_t>(to, 3 * i));
  });
}

PlaneKernel planes_of(bool split, int64_t element_bytes, int64_t channels) {
  if (channels == 3 && element_bytes == 1)
    return split ? three_planes<uint8_t, true> : three_planes<uint8_t, false>;
  if (channels == 3 && element_bytes == 2)
    return split ? three_planes<uint16_t, true> : three_planes<uint16_t, false>;
  if (channels == 3 && element_bytes == 4)
    return split ? three_planes<uint32_t, true> : three_planes<uint32_t, false>;
  return plain_plane_kernel(split, element_bytes, channels);
}

ReverseKernel reverse_of(int64_t pixel_bytes) {
  if (pixel_bytes == 1) return reverse_one<uint8_t>;
  if (pixel_bytes == 2) return reverse_one<uint16_t>;
  if (pixel_bytes == 3) return reverse_three;
  if (pixel_bytes == 4) return reverse_one<uint32_t>;
  return plain_reverse_kernel(pixel_bytes);
}
#endif
DATALINE_SIMD_END();

#if DATALINE_SIMD_ONCE
namespace dataline {
RowCopyKernel row_copy_kernel(SimdTarget target, int64_t row_bytes) {
  using Finder = decltype(&plain_row_copy_kernel);
  return DATALINE_SIMD_PICK(target, Finder, copy_of, &plain_row_copy_kernel)(row_bytes);
}

using PlaneFinder = decltype(&plain_plane_kernel);
PlaneKernel split_kernel(SimdTarget target, int64_t element_bytes, int64_t channels) {
  return DATALINE_SIMD_PICK(target, PlaneFinder, planes_of, &plain_plane_kernel)(true, element_bytes,
                                                                                 channels);
}
PlaneKernel join_kernel(SimdTarget target, int64_t element_bytes, int64_t channels) {
  return DATALINE_SIMD_PICK(target, PlaneFinder, planes_of, &plain_plane_kernel)(false, element_bytes,
                                                                                 channels);
}

ReverseKernel reverse_kernel(SimdTarget target, int64_t pixel_bytes) {
  using Finder = decltype(&plain_reverse_kernel);
  return DATALINE_SIMD_PICK(target, Finder, reverse_of, &plain_reverse_kernel)(pixel_bytes);
}
}  // namespace dataline
#endif
