// Vectorized interleaved-to-planar conversion and back, and pixels in reverse order. For three channels; other counts use the
// plain loops.
// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "core/base/simd.h"
#include "core/transform/elements/kernels.h"

#if DATALINE_HAS_HIGHWAY
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/transform/elements/planes_simd.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace dataline {
namespace HWY_NAMESPACE {
#if DATALINE_SIMD_LANES
namespace hn = hwy::HWY_NAMESPACE;

template <typename T>
HWY_INLINE const T* at(const std::byte* from, int64_t index) {
  return reinterpret_cast<const T*>(from) + index;
}
template <typename T>
HWY_INLINE T* at(std::byte* to, int64_t index) {
  return reinterpret_cast<T*>(to) + index;
}

template <typename T>
void split_three(const std::byte* from, std::byte* to, int64_t pixels, int64_t channels,
                 int64_t plane_stride) {
  constexpr int64_t kWidth = HWY_LANES(T);
  if (pixels < kWidth) return plain_split_kernel(sizeof(T))(from, to, pixels, channels, plane_stride);
  const hn::ScalableTag<T> d;
  const auto one = [&](int64_t i) HWY_ATTR {
    hn::Vec<decltype(d)> r, g, b;
    hn::LoadInterleaved3(d, at<T>(from, 3 * i), r, g, b);
    hn::StoreU(r, d, at<T>(to, i));
    hn::StoreU(g, d, at<T>(to + plane_stride, i));
    hn::StoreU(b, d, at<T>(to + 2 * plane_stride, i));
  };
  int64_t i = 0;
  for (; i + kWidth <= pixels; i += kWidth) one(i);
  if (i < pixels) one(pixels - kWidth);
}

template <typename T>
void join_three(const std::byte* from, std::byte* to, int64_t pixels, int64_t channels,
                int64_t plane_stride) {
  constexpr int64_t kWidth = HWY_LANES(T);
  if (pixels < kWidth) return plain_join_kernel(sizeof(T))(from, to, pixels, channels, plane_stride);
  const hn::ScalableTag<T> d;
  const auto one = [&](int64_t i) HWY_ATTR {
    const auto r = hn::LoadU(d, at<T>(from, i));
    const auto g = hn::LoadU(d, at<T>(from + plane_stride, i));
    const auto b = hn::LoadU(d, at<T>(from + 2 * plane_stride, i));
    hn::StoreInterleaved3(r, g, b, d, at<T>(to, 3 * i));
  };
  int64_t i = 0;
  for (; i + kWidth <= pixels; i += kWidth) one(i);
  if (i < pixels) one(pixels - kWidth);
}

// Highway reverses lanes of 16 bits and more; bytes are swapped within them afterwards.
HWY_INLINE hn::Vec<hn::ScalableTag<uint8_t>> reversed(hn::Vec<hn::ScalableTag<uint8_t>> bytes) {
  const hn::ScalableTag<uint8_t> d;
  const hn::Repartition<uint16_t, decltype(d)> d16;
  const auto pairs = hn::Reverse(d16, hn::BitCast(d16, bytes));
  return hn::BitCast(d, hn::Or(hn::ShiftLeft<8>(pairs), hn::ShiftRight<8>(pairs)));
}
template <typename V>
HWY_INLINE V reversed(V value) {
  return hn::Reverse(hn::DFromV<V>(), value);
}

template <typename T>
void reverse_one(const std::byte* from, std::byte* to, int64_t pixels, int64_t) {
  constexpr int64_t kWidth = HWY_LANES(T);
  if (pixels < kWidth) return plain_reverse_kernel(sizeof(T))(from, to, pixels, sizeof(T));
  const hn::ScalableTag<T> d;
  const auto one = [&](int64_t i) HWY_ATTR {
    hn::StoreU(reversed(hn::LoadU(d, at<T>(from, pixels - kWidth - i))), d, at<T>(to, i));
  };
  int64_t i = 0;
  for (; i + kWidth <= pixels; i += kWidth) one(i);
  if (i < pixels) one(pixels - kWidth);
}

void reverse_three(const std::byte* from, std::byte* to, int64_t pixels, int64_t) {
  constexpr int64_t kWidth = HWY_LANES(uint8_t);
  if (pixels < kWidth) return plain_reverse_kernel(3)(from, to, pixels, 3);
  const hn::ScalableTag<uint8_t> d;
  const auto one = [&](int64_t i) HWY_ATTR {
    hn::Vec<decltype(d)> r, g, b;
    hn::LoadInterleaved3(d, at<uint8_t>(from, 3 * (pixels - kWidth - i)), r, g, b);
    hn::StoreInterleaved3(reversed(r), reversed(g), reversed(b), d, at<uint8_t>(to, 3 * i));
  };
  int64_t i = 0;
  for (; i + kWidth <= pixels; i += kWidth) one(i);
  if (i < pixels) one(pixels - kWidth);
}

PlaneKernel split_of(int64_t element_bytes, int64_t channels) {
  if (channels != 3) return nullptr;
  if (element_bytes == 1) return split_three<uint8_t>;
  if (element_bytes == 2) return split_three<uint16_t>;
  if (element_bytes == 4) return split_three<uint32_t>;
  return nullptr;
}

PlaneKernel join_of(int64_t element_bytes, int64_t channels) {
  if (channels != 3) return nullptr;
  if (element_bytes == 1) return join_three<uint8_t>;
  if (element_bytes == 2) return join_three<uint16_t>;
  if (element_bytes == 4) return join_three<uint32_t>;
  return nullptr;
}

ReverseKernel reverse_of(int64_t pixel_bytes) {
  if (pixel_bytes == 1) return reverse_one<uint8_t>;
  if (pixel_bytes == 2) return reverse_one<uint16_t>;
  if (pixel_bytes == 3) return reverse_three;
  if (pixel_bytes == 4) return reverse_one<uint32_t>;
  return nullptr;
}
#endif
}  // namespace HWY_NAMESPACE
}  // namespace dataline
HWY_AFTER_NAMESPACE();
#endif

#if !DATALINE_HAS_HIGHWAY || HWY_ONCE
namespace dataline {
namespace {
using PlaneFinder = PlaneKernel (*)(int64_t element_bytes, int64_t channels);
using ReverseFinder = ReverseKernel (*)(int64_t pixel_bytes);
PlaneKernel no_planes(int64_t, int64_t) { return nullptr; }
ReverseKernel no_reverse(int64_t) { return nullptr; }
}  // namespace

PlaneKernel split_kernel(SimdTarget target, int64_t element_bytes, int64_t channels) {
  const PlaneKernel lanes =
      DATALINE_SIMD_PICK(target, PlaneFinder, split_of, &no_planes)(element_bytes, channels);
  return lanes != nullptr ? lanes : plain_split_kernel(element_bytes);
}

PlaneKernel join_kernel(SimdTarget target, int64_t element_bytes, int64_t channels) {
  const PlaneKernel lanes =
      DATALINE_SIMD_PICK(target, PlaneFinder, join_of, &no_planes)(element_bytes, channels);
  return lanes != nullptr ? lanes : plain_join_kernel(element_bytes);
}

ReverseKernel reverse_kernel(SimdTarget target, int64_t pixel_bytes) {
  const ReverseKernel lanes = DATALINE_SIMD_PICK(target, ReverseFinder, reverse_of, &no_reverse)(pixel_bytes);
  return lanes != nullptr ? lanes : plain_reverse_kernel(pixel_bytes);
}
}  // namespace dataline
#endif
