// The kernels by name: X(from, to), each in the three bodies of fused_rows.h as dl_<body>_<from>_<to>.
// Compiled by nvcc too.
// SPDX-License-Identifier: Apache-2.0
#pragma once

// What is stored, and what a host part may leave, to what is delivered; then moves of elements of 1 to 16 bytes.
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
