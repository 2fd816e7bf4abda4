// The inner loops, as function pointers that a program stores: a plain version of each, and vector versions (with Highway) of
// the common ones. All versions of a loop write the same bits.
//
// Threads: immutable, no state.
// Limits: sources may be unaligned; nothing is read outside the source or written outside the target; the two
// never overlap. Counts may be 0.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/base/dtype.h"
#include "core/base/simd.h"

namespace dataline {

// y = x * a + b in f32, rounded after the product and after the sum.
struct Affine {
  // Element i uses entry i % period of each table. With a period above 1 the tables hold period * kPatternLanes entries, so
  // that a vector may be loaded from any offset below the period.
  const float* a = nullptr;
  const float* b = nullptr;
  int64_t period = 1;
};
constexpr int64_t kPatternLanes = 16;

using ElementKernel = void (*)(const std::byte* from, std::byte* to, int64_t count, const Affine& affine);

// Null only if one type is complex and the other is not.
ElementKernel cast_kernel(SimdTarget target, DType from, DType to);
// x to f32, affine, to `to`. Never null for f32; null for types that need a separate cast.
ElementKernel affine_kernel(SimdTarget target, DType from, DType to);

// Rows from scattered addresses into a dense or strided target.
struct RowCopy {
  const std::byte* const* source = nullptr;  // null entries are skipped
  int64_t source_offset = 0;
  int64_t count = 0;
  int64_t row_bytes = 0;
  std::byte* target = nullptr;
  int64_t target_stride = 0;
};
using RowCopyKernel = void (*)(const RowCopy& copy);
RowCopyKernel row_copy_kernel(SimdTarget target, int64_t row_bytes);

// pixels x channels elements to channels planes of `pixels` elements, `plane_stride` bytes apart; and back.
using PlaneKernel = void (*)(const std::byte* from, std::byte* to, int64_t pixels, int64_t channels,
                             int64_t plane_stride);
PlaneKernel split_kernel(SimdTarget target, int64_t element_bytes, int64_t channels);
PlaneKernel join_kernel(SimdTarget target, int64_t element_bytes, int64_t channels);

// Pixels in reverse order.
using ReverseKernel = void (*)(const std::byte* from, std::byte* to, int64_t pixels, int64_t pixel_bytes);
ReverseKernel reverse_kernel(SimdTarget target, int64_t pixel_bytes);

// The plain version of each, for all types: the reference of the vector versions.
ElementKernel plain_cast_kernel(DType from, DType to);
ElementKernel plain_affine_kernel(DType from, DType to);  // null but for f32
RowCopyKernel plain_row_copy_kernel(int64_t row_bytes);
PlaneKernel plain_plane_kernel(bool split, int64_t element_bytes, int64_t channels);
ReverseKernel plain_reverse_kernel(int64_t pixel_bytes);

}  // namespace dataline
