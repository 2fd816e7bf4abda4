// mixup and cutmix (torchvision.transforms.v2.MixUp and CutMix): each row of a finished batch is combined with the row
// before it, and its labels in the same proportion. The row before is roll(1), so row 0 is combined with the last one.
//
// Threads: immutable.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/base/dtype.h"
#include "core/base/simd.h"
#include "core/base/status.h"
#include "core/transform/pixels/draws.h"
#include "core/transform/pixels/frame.h"

namespace dataline {

enum class MixKind { kMixup, kCutmix };

struct BatchMix {
  MixKind kind = MixKind::kMixup;
  double alpha = 1;  // of Beta(alpha, alpha)
  size_t image = 0;  // field index
  size_t labels = 0;
  int64_t place = 0;  // of the operator in its list
  ImageShape shape;   // cutmix: of the image as delivered
};

// What an operator asks for, before the labels' field is looked up.
struct MixRequest {
  BatchMix mix;
  std::string_view labels;
  int64_t column = 0, labels_column = 0;  // in the text
};

// One value of Beta(a, a), rounded to f32 as torch.distributions.Beta gives it, the same on every machine. Takes draws from
// `first` on, a pair per attempt.
// a <= 1: Joehnk's algorithm (M. D. Joehnk, Metrika 8, 1964), in logarithms, so that a may be arbitrarily small.
// a > 1: the symmetric beta from a point of the unit disc (L. Devroye, "Random variate generation in one line of code",
// 1996; after G. Ulrich, Applied Statistics 33, 1984).
double draw_symmetric_beta(const Draws& draws, int64_t first, double a);

// The draws of one batch. Row i becomes lambda * row i + (1 - lambda) * row i - 1. With cutmix this applies to the labels,
// and the image gets a rectangle of the row before.
struct MixDraw {
  double lambda = 1;
  int64_t top = 0, bottom = 0, left = 0, right = 0;
};
// A function of (seed, epoch, step, place): the same on every rank.
MixDraw draw_mix(const BatchMix& mix, uint64_t seed, int64_t epoch, int64_t step);

// Rows of one field, in place.
struct MixRows {
  std::byte* first = nullptr;
  int64_t count = 0;
  int64_t stride = 0;  // bytes
  int64_t row_bytes = 0;
  std::byte* scratch = nullptr;  // row_bytes
};
// Computed in f32 (f64 for f64), rounded after each product and after the sum; halves are rounded once more at the end. Of
// two NaNs either may be the result.
void blend_rows(const MixRows& rows, DType dtype, double lambda, SimdTarget target);
void paste_rows(const MixRows& rows, const ImageShape& shape, int64_t element_bytes, const MixDraw& draw);

}  // namespace dataline
