// A field: one named tensor of a sample, as stored by a source or as delivered by the loader.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "core/base/dtype.h"

namespace dataline {

enum class FieldKind : int32_t { kDense = 0, kRagged = 1 };  // values of DL_KIND_*

constexpr int64_t kMaxRank = 32;  // as NumPy; leaves one dim for the batch within DL_MAX_RANK

struct Field {
  std::string name;  // UTF-8; nested names use '/'
  FieldKind kind = FieldKind::kDense;
  DType dtype = DType::kU8;
  // Of one sample. Ragged: the first dim is -1 (variable length), the others are fixed. Dense with dims of -1: images
  // whose size varies by record, all rows of one batch must have the same size; or to_bucket.
  std::vector<int64_t> shape;
  std::string axes;  // one letter per dim ("HWC"), or empty when unknown
  // Ragged: bytes of the largest sample when the source knows, else -1. Dense: unused, but by_part.
  int64_t max_bytes = -1;
  // Dense, with the size of the batch's bucket, so that it varies by batch: by length the first dim is -1, padded to the edge;
  // by aspect those of the height and the width are.
  bool to_bucket = false;
  // Dense, of a mix whose parts have different sizes: dims of -1 are those of the batch's part. max_bytes: of the largest.
  bool by_part = false;

  bool varies() const {
    return kind == FieldKind::kDense &&
           std::any_of(shape.begin(), shape.end(), [](int64_t dim) { return dim < 0; });
  }
  // Bytes of one sample; -1 when ragged or varying. Sources have checked that the product does not overflow.
  int64_t bytes() const { return kind == FieldKind::kRagged || varies() ? -1 : item_bytes(); }
  // Ragged: bytes per step of the variable dim.
  int64_t item_bytes() const {
    int64_t total = dtype_bytes(dtype);
    for (size_t i = kind == FieldKind::kRagged ? 1 : 0; i < shape.size(); ++i) total *= shape[i];
    return total;
  }
};

// "u8[28x28]", "i64" for a scalar, "u8[-1]" for bytes.
std::string field_type_text(const Field& field);

}  // namespace dataline
