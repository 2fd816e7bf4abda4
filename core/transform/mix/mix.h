// mixup and cutmix: each row of a finished batch takes something of the row before it, and its labels the same share of
// that row's. torchvision.transforms.v2.MixUp and CutMix: the row before is roll(1), so row 0 takes of the last one.
//
// Threads: immutable.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/dtype.h"
#include "core/base/simd.h"
#include "core/base/status.h"
#include "core/transform/geometry.h"
#include "core/transform/transform.h"

namespace dataline {

enum class MixKind { kMixup, kCutmix };

struct BatchMix {
  MixKind kind = MixKind::kMixup;
  double alpha = 1;  // of Beta(alpha, alpha)
  size_t image = 0;  // fields
  size_t labels = 0;
  int64_t place = 0;  // of the operator in its list
  ImageShape shape;   // cutmix: of the image, as it is delivered
};

// Those of a text, which compile_transforms() leaves to the caller. Its errors are those of compile_transforms().
Result<std::vector<BatchMix>> batch_mixes(std::string_view text, std::span<const Field> fields,
                                          const TransformSettings& settings = {});

// The same as an operator asks for it, before the labels are looked for.
struct MixRequest {
  MixKind kind = MixKind::kMixup;
  double alpha = 1;
  std::string labels;
  int64_t place = 0;
  int64_t column = 0, labels_column = 0;  // in the text
  ImageShape shape;
};

// What one batch draws. Row i becomes lambda * row i + (1 - lambda) * row i - 1; with cutmix that is true of the labels,
// and the image takes a rectangle of the row before.
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
// In f32, rounded after each product and after the sum (in f64 for f64); halves are rounded once more at the end. Of two NaNs either may be passed on.
void blend_rows(const MixRows& rows, DType dtype, double lambda, SimdTarget target);
void paste_rows(const MixRows& rows, const ImageShape& shape, int64_t element_bytes, const MixDraw& draw);

}  // namespace dataline
