// Fields of images and rows for them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/base/field.h"
#include "core/base/random.h"

namespace dataline {

using Rows = std::vector<std::vector<std::byte>>;

inline Field image_field(std::vector<int64_t> shape, std::string axes) {
  Field field;
  field.name = "image";
  field.dtype = DType::kU8;
  field.shape = std::move(shape);
  field.axes = std::move(axes);
  return field;
}

// Smooth, so that blurs and shears show, with noise.
inline Rows pictures(const Field& field, int64_t count) {
  Rows rows;
  for (int64_t row = 0; row < count; ++row) {
    std::vector<std::byte> bytes(static_cast<size_t>(field.bytes()));
    for (size_t i = 0; i < bytes.size(); ++i)
      bytes[i] = static_cast<std::byte>((i * 3 / 2 + random_bits(static_cast<uint64_t>(row), i) % 64) & 0xff);
    rows.push_back(std::move(bytes));
  }
  return rows;
}

}  // namespace dataline
