// Rows as a host hands them to a writer: one array per field, in the fields' order.
// Threads: values; what they point to is the host's.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/base/bytes.h"
#include "core/base/field.h"
#include "core/source/host/host.h"

namespace dataline {

struct HostRows {
  std::span<const ArrayField> arrays;  // checked by check_host_arrays()
  int64_t count = 0;

  const Field& field(size_t f) const { return arrays[f].field; }
  int64_t row_stride(size_t f) const { return arrays[f].row_stride.value_or(field(f).bytes()); }
  Bytes cell(size_t f, int64_t row) const {
    const ArrayField& array = arrays[f];
    if (array.offsets == nullptr)
      return {array.data + row * row_stride(f), static_cast<size_t>(field(f).bytes())};
    const int64_t first = array.offsets[row], items = array.offsets[row + 1] - first;
    const int64_t bytes = field(f).item_bytes();
    return {array.data + first * bytes, static_cast<size_t>(items * bytes)};
  }
};

// Bytes and UTF-8 text.
inline bool is_bytes(const Field& field) {
  return field.kind == FieldKind::kRagged && field.dtype == DType::kU8 && field.shape.size() == 1;
}

}  // namespace dataline
