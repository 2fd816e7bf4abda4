// SPDX-License-Identifier: Apache-2.0
#include <bit>
#include <cstring>

#include "core/transform/elements/convert.h"
#include "core/transform/elements/kernels.h"
#include "core/transform/elements/row_copy.h"

namespace dataline {
namespace {

template <typename From, typename To>
void cast_plain(const std::byte* from, std::byte* to, int64_t count, const Affine&) {
  cast_each<From, To>(from, to, count);
}

template <typename From>
void affine_plain(const std::byte* from, std::byte* to, int64_t count, const Affine& affine) {
  affine_each<From, float>(from, to, count, affine);
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

template <int64_t kBytes>  // 0: any
void reverse_plain(const std::byte* from, std::byte* to, int64_t pixels, int64_t pixel_bytes) {
  const int64_t bytes = kBytes != 0 ? kBytes : pixel_bytes;
  const std::byte* last = from + (pixels - 1) * bytes;
  for (int64_t i = 0; i < pixels; ++i)
    std::memcpy(to + i * bytes, last - i * bytes, static_cast<size_t>(bytes));
}

}  // namespace

ElementKernel plain_cast_kernel(DType from, DType to) {
  return with_storages(from, to, []<typename From, typename To>(From, To) -> ElementKernel {
    if constexpr (kIsComplex<From> && !kIsComplex<To>)
      return nullptr;
    else
      return cast_plain<From, To>;
  });
}

ElementKernel plain_affine_kernel(DType from, DType to) {
  if (to != DType::kF32) return nullptr;
  return with_storage(from, []<typename From>(From) -> ElementKernel {
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

PlaneKernel plain_plane_kernel(bool split, int64_t element_bytes, int64_t) {
  constexpr PlaneKernel kSplit[] = {planes_plain<1, true>, planes_plain<2, true>, planes_plain<4, true>,
                                    planes_plain<8, true>, planes_plain<16, true>};
  constexpr PlaneKernel kJoin[] = {planes_plain<1, false>, planes_plain<2, false>, planes_plain<4, false>,
                                   planes_plain<8, false>, planes_plain<16, false>};
  return (split ? kSplit : kJoin)[std::countr_zero(static_cast<uint64_t>(element_bytes))];
}

ReverseKernel plain_reverse_kernel(int64_t pixel_bytes) {
  if (pixel_bytes == 1) return reverse_plain<1>;
  if (pixel_bytes == 2) return reverse_plain<2>;
  if (pixel_bytes == 3) return reverse_plain<3>;
  if (pixel_bytes == 4) return reverse_plain<4>;
  if (pixel_bytes == 8) return reverse_plain<8>;
  if (pixel_bytes == 12) return reverse_plain<12>;
  return reverse_plain<0>;
}

}  // namespace dataline
