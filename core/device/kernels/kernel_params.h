// The interface of the kernels: their parameters, one struct of plain C layout that is passed by value, and their names.
// Written by kernel_call.cpp, read by the kernels and their host twins. Compiled by nvcc too.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdint.h>

namespace dataline {

// Limits of one call; tails beyond them run on the host. Kernel parameters are limited to 4 KiB, and the elements of a
// launch are counted in 31 bits.
constexpr uint32_t kKernelAffines = 8;
constexpr uint32_t kKernelEntries = 256;    // all affine maps together
constexpr uint32_t kKernelFillBytes = 512;  // one element per channel
constexpr int64_t kKernelElements = (int64_t{1} << 31) - 1;

// Division by a number known at launch, for dividends below 2^31 (Granlund and Montgomery 1994).
struct KernelDivisor {
  uint32_t divisor;
  uint32_t magic;
  uint32_t shift;
};

// As TailAxis and TailGeometry in core/base/tail.h.
struct KernelAxis {
  int32_t sign, offset, low, high;
};
struct KernelView {
  KernelAxis y, x;
};

struct KernelAffine {
  uint32_t first;       // entry in the table
  uint32_t by_channel;  // 1: one entry per channel; 0: one for all
};

struct KernelParams {
  const unsigned char* source;  // row 0
  const int64_t* index;         // the source row of each row; null: row i is i
  const KernelView* geometry;   // one per row; null: `view` for all
  unsigned char* target;        // packed rows
  int64_t source_stride;        // bytes from row to row
  uint32_t rows;
  uint32_t row_elements;      // of the output, all channels; rows * row_elements is at most kKernelElements
  uint32_t in_elements;       // of a source row; used only by the twins, to check reads
  uint32_t channels;          // per image
  uint32_t height, width;     // of an output image
  uint32_t in_x, in_y, in_c;  // source elements from column to column, line to line, channel to channel
  uint32_t vector;            // 1: every chunk of 16 target bytes is aligned
  uint32_t affines;           // in use
  KernelDivisor by_row;       // row_elements; `planes`: chunks in a plane
  KernelDivisor by_width;     // width
  KernelDivisor by_channels;  // channels
  KernelDivisor by_inner;     // `elements`: contiguous elements of one channel
  KernelView view;
  KernelAffine affine[kKernelAffines];
  float a[kKernelEntries];
  float b[kKernelEntries];
  alignas(16) unsigned char fill[kKernelFillBytes];
};
static_assert(sizeof(KernelParams) <= 4000, "a kernel's parameters have 4 KiB");

}  // namespace dataline

// The kernels by name: X(from, to), each in the three bodies of fused_rows.h as dl_<body>_<from>_<to>. From the types that
// are stored, or left by the host's part of a transform, to those delivered; then moves of elements of 1 to 16 bytes.
// clang-format off
#define DL_KERNEL_FLOATS(X, from) X(from, f32) X(from, f16) X(from, bf16)
#define DL_KERNEL_TYPES(X)              \
  DL_KERNEL_FLOATS(X, u8)  X(u8, i64)   \
  DL_KERNEL_FLOATS(X, u16) X(u16, i64)  \
  DL_KERNEL_FLOATS(X, i32) X(i32, i64)  \
  DL_KERNEL_FLOATS(X, i64)              \
  DL_KERNEL_FLOATS(X, f32)              \
  DL_KERNEL_FLOATS(X, f16)              \
  DL_KERNEL_FLOATS(X, bf16)             \
  X(r8, r8) X(r16, r16) X(r32, r32) X(r64, r64) X(r128, r128)
// clang-format on
