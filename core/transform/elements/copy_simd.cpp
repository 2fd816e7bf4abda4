// Gathering rows: the hottest loop of the loader.
//
// The loads of a group come before its stores: with alternating loads and stores the hardware prefetcher runs past the end
// of every row (784-byte rows of a 4.7 GB map, Zen 4: 130 ns per row instead of 95). Stores are not streaming: streaming
// stores cost three times as much into slots that are in the cache.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>

#include "core/base/simd.h"
#include "core/transform/elements/kernels.h"
#include "core/transform/elements/prefetch.h"
#include "core/transform/elements/small_rows.h"

#if DATALINE_HAS_HIGHWAY
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/transform/elements/copy_simd.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace dataline {
namespace HWY_NAMESPACE {
#if DATALINE_SIMD_LANES
namespace hn = hwy::HWY_NAMESPACE;

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
#endif
}  // namespace HWY_NAMESPACE
}  // namespace dataline
HWY_AFTER_NAMESPACE();
#endif

#if !DATALINE_HAS_HIGHWAY || HWY_ONCE
namespace dataline {
RowCopyKernel row_copy_kernel(SimdTarget target, int64_t row_bytes) {
  using Finder = RowCopyKernel (*)(int64_t row_bytes);
  return DATALINE_SIMD_PICK(target, Finder, copy_of, &plain_row_copy_kernel)(row_bytes);
}
}  // namespace dataline
#endif
