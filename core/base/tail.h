// The last stage of a field's transform in a form that a device can run: from the stored type to the delivered type, in
// one pass over the pixels. core/transform builds it and has its CPU twin; core/device runs it.
//
//   out = to(affine_n(... affine_1(f32(in)) ...)), each affine x * a + b in two f32 roundings, never contracted
//
// Threads: immutable.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/base/dtype.h"

namespace dataline {

// source = sign * output + offset; padding where that is outside [low, high).
struct TailAxis {
  int32_t sign = 1;
  int32_t offset = 0;
  int32_t low = 0;
  int32_t high = 0;
};
// The composed crops and flips of one row, drawn on the host and copied to the device together with the rows.
struct TailGeometry {
  TailAxis y, x;
};
static_assert(sizeof(TailGeometry) == 32);

struct TailAffine {
  std::vector<float> a, b;  // one value, or one per channel
};

struct Tail {
  DType from = DType::kU8;          // u8, u16, i32 and the output types
  DType to = DType::kF32;           // f32, f16, bf16, i64; or `from`, of any type, where elements only move
  std::vector<TailAffine> affines;  // empty: a cast, or only a move

  // A row is one image or, where nothing moves, several side by side. Elements that are not images are one line of one
  // channel; with values per channel, HWC or CHW images of one line.
  int64_t images = 1;
  int64_t channels = 1;
  int64_t in_height = 1, in_width = 1;
  int64_t out_height = 1, out_width = 1;
  bool in_planar = false, out_planar = false;  // CHW; else HWC
  bool moves = false;                          // elements change position: a crop, a flip, another layout
  bool geometry = false;                       // each row has a TailGeometry; else `view` for all
  TailGeometry view;
  std::vector<std::byte> fill;  // padding of crops: one element of `from` per channel

  int64_t in_bytes() const { return images * channels * in_height * in_width * dtype_bytes(from); }
  int64_t out_bytes() const { return images * channels * out_height * out_width * dtype_bytes(to); }
};

}  // namespace dataline
