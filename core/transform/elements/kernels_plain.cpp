// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "core/base/bytes.h"
#include "core/transform/elements/convert.h"
#include "core/transform/elements/kernels.h"
#include "core/transform/elements/prefetch.h"
#include "core/transform/elements/small_rows.h"

namespace dataline {
namespace {

template <typename T>
void store_native(std::byte* to, T value) {
  std::memcpy(to, &value, sizeof value);
}

template <typename From, typename To>
void cast_plain(const std::byte* from, std::byte* to, int64_t count, const Affine&) {
  constexpr int64_t kFrom = sizeof(From), kTo = sizeof(To);
  for (int64_t i = 0; i < count; ++i)
    store_native(to + i * kTo, convert<To>(load_native<From>(from + i * kFrom)));
}

template <typename From>
void affine_plain(const std::byte* from, std::byte* to, int64_t count, const Affine& affine) {
  constexpr int64_t kFrom = sizeof(From), kTo = sizeof(float);
  int64_t channel = 0;
  for (int64_t i = 0; i < count; ++i) {
    const float x = convert<float>(load_native<From>(from + i * kFrom));
    store_native(to + i * kTo, x * affine.a[channel] + affine.b[channel]);
    if (++channel == affine.period) channel = 0;
  }
}

bool all_present(const RowCopy& copy) {
  bool present = true;
#pragma GCC unroll 8
  for (int64_t i = 0; i < copy.count; ++i) present &= copy.source[i] != nullptr;
  return present;
}

template <int64_t kBytes, bool kOverlap>
void copy_rows_small(const RowCopy& copy) {
  copy_small<kBytes, kOverlap>(copy, all_present(copy));
}

void copy_rows_plain(const RowCopy& copy) {
  const int64_t ahead = prefetch_rows(copy.row_bytes);
  for (int64_t i = 0; i < ahead && i < copy.count; ++i)
    prefetch_row(copy.source[i], copy.source_offset, copy.row_bytes);
  for (int64_t i = 0; i < copy.count; ++i) {
    if (i + ahead < copy.count) prefetch_row(copy.source[i + ahead], copy.source_offset, copy.row_bytes);
    if (copy.source[i] == nullptr) continue;
    std::memcpy(copy.target + i * copy.target_stride, copy.source[i] + copy.source_offset,
                static_cast<size_t>(copy.row_bytes));
  }
}

// Packed pixels to planes (kSplit), or back.
template <int64_t kBytes, bool kSplit>
void planes_plain(const std::byte* from, std::byte* to, int64_t pixels, int64_t channels,
                  int64_t plane_stride) {
  for (int64_t c = 0; c < channels; ++c) {
    for (int64_t i = 0; i < pixels; ++i) {
      const int64_t packed = (i * channels + c) * kBytes, planar = c * plane_stride + i * kBytes;
      std::memcpy(to + (kSplit ? planar : packed), from + (kSplit ? packed : planar), kBytes);
    }
  }
}

template <bool kSplit>
PlaneKernel planes_kernel(int64_t element_bytes) {
  switch (element_bytes) {
    case 1:
      return planes_plain<1, kSplit>;
    case 2:
      return planes_plain<2, kSplit>;
    case 4:
      return planes_plain<4, kSplit>;
    case 8:
      return planes_plain<8, kSplit>;
    default:
      return planes_plain<16, kSplit>;
  }
}

template <size_t kBytes>
void reverse_plain(const std::byte* from, std::byte* to, int64_t pixels, int64_t) {
  const std::byte* last = from + (pixels - 1) * static_cast<int64_t>(kBytes);
  for (int64_t i = 0; i < pixels; ++i)
    std::memcpy(to + i * static_cast<int64_t>(kBytes), last - i * static_cast<int64_t>(kBytes), kBytes);
}

void reverse_any(const std::byte* from, std::byte* to, int64_t pixels, int64_t pixel_bytes) {
  const std::byte* last = from + (pixels - 1) * pixel_bytes;
  for (int64_t i = 0; i < pixels; ++i)
    std::memcpy(to + i * pixel_bytes, last - i * pixel_bytes, static_cast<size_t>(pixel_bytes));
}

}  // namespace

ElementKernel plain_cast_kernel(DType from, DType to) {
  return with_storage(from, [to](auto source) -> ElementKernel {
    using From = decltype(source);
    return with_storage(to, [](auto target) -> ElementKernel {
      using To = decltype(target);
      if constexpr (kIsComplex<From> && !kIsComplex<To>)
        return nullptr;
      else
        return cast_plain<From, To>;
    });
  });
}

ElementKernel plain_affine_kernel(DType from) {
  return with_storage(from, [](auto source) -> ElementKernel {
    using From = decltype(source);
    if constexpr (kIsComplex<From>)
      return nullptr;
    else
      return affine_plain<From>;
  });
}

RowCopyKernel plain_row_copy_kernel(int64_t row_bytes) {
  const auto find = []<int64_t kBytes, bool kOverlap>() -> RowCopyKernel {
    return copy_rows_small<kBytes, kOverlap>;
  };
  const RowCopyKernel small = small_row_kernel(row_bytes, find);
  return small != nullptr ? small : copy_rows_plain;
}

PlaneKernel plain_split_kernel(int64_t element_bytes) { return planes_kernel<true>(element_bytes); }
PlaneKernel plain_join_kernel(int64_t element_bytes) { return planes_kernel<false>(element_bytes); }

ReverseKernel plain_reverse_kernel(int64_t pixel_bytes) {
  switch (pixel_bytes) {
    case 1:
      return reverse_plain<1>;
    case 2:
      return reverse_plain<2>;
    case 3:
      return reverse_plain<3>;
    case 4:
      return reverse_plain<4>;
    case 8:
      return reverse_plain<8>;
    case 12:
      return reverse_plain<12>;
    default:
      return reverse_any;
  }
}

}  // namespace dataline
