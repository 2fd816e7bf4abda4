// Encoded images as rows of a ragged field.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "core/base/field.h"
#include "tests/transform/decode/jpeg_files.h"

namespace dataline::tests {

inline Field encoded_field() {
  Field field;
  field.name = "image";
  field.kind = FieldKind::kRagged;
  field.dtype = DType::kU8;
  field.shape = {-1};
  return field;
}

inline std::vector<std::byte> jpeg_row(int64_t height, int64_t width, bool grey = false) {
  JpegKind kind;
  kind.height = static_cast<int>(height);
  kind.width = static_cast<int>(width);
  if (grey) {
    kind.h = kind.v = {1};
    kind.in = kind.stored = JCS_GRAYSCALE;
  }
  const std::string file = make_jpeg(kind);
  const auto* begin = reinterpret_cast<const std::byte*>(file.data());
  return {begin, begin + file.size()};
}

}  // namespace dataline::tests
