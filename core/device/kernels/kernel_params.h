// What a kernel is told: one struct of plain C layout, passed by value, written by core/device/kernel_set.cpp, read by
// the kernels and by their twins on the host. Compiled by nvcc too.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdint.h>

namespace dataline {

// Limits of one call; tails beyond them run on the host. The struct must stay below the 4 KiB that a kernel may be
// passed, and elements of one launch are counted with 31 bits.
constexpr uint32_t kKernelAffines = 8;
constexpr uint32_t kKernelEntries = 256;    // of all affine maps together
constexpr uint32_t kKernelFillBytes = 512;  // one element a channel
constexpr int64_t kKernelElements = (int64_t{1} << 31) - 1;

// Division by a number that is known before the launch, for dividends below 2^31 (Granlund and Montgomery 1994).
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
  uint32_t by_channel;  // 1: an entry a channel; 0: one for all
};

struct KernelParams {
  const unsigned char* source;  // row 0
  const int64_t* index;         // which source row each row is; null: row i is i
  const KernelView* geometry;   // one a row; null: `view` for all
  unsigned char* target;        // packed rows
  int64_t source_stride;        // bytes from row to row
  uint32_t rows;
  uint32_t row_elements;      // of the output, all channels; rows * row_elements is at most kKernelElements
  uint32_t in_elements;       // of a source row; only twins ask, who check what is read
  uint32_t channels;          // of an image
  uint32_t height, width;     // of an image of the output
  uint32_t in_x, in_y, in_c;  // source elements from column to column, line to line, channel to channel
  uint32_t vector;            // 1: every chunk of 16 target bytes is aligned
  uint32_t affines;           // in use
  KernelDivisor by_row;       // row_elements; bodies of planes: chunks in a plane
  KernelDivisor by_width;     // width
  KernelDivisor by_channels;  // channels
  KernelDivisor by_inner;     // elements side by side that are of one channel, in rows that keep their order
  KernelView view;
  KernelAffine affine[kKernelAffines];
  float a[kKernelEntries];
  float b[kKernelEntries];
  alignas(16) unsigned char fill[kKernelFillBytes];
};
static_assert(sizeof(KernelParams) <= 4000, "a kernel's parameters have 4 KiB");

}  // namespace dataline
