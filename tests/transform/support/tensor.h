// Tensors for the tests of transforms: one sample as shape, dtype and bytes, its values as wide numbers.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "core/base/dtype.h"
#include "core/base/field.h"

namespace dataline::tests {

constexpr DType kAllDtypes[] = {DType::kBool, DType::kU8,  DType::kU16, DType::kU32, DType::kU64,
                                DType::kI8,   DType::kI16, DType::kI32, DType::kI64, DType::kF16,
                                DType::kBf16, DType::kF32, DType::kF64, DType::kC64, DType::kC128};

inline bool is_complex(DType dtype) { return dtype == DType::kC64 || dtype == DType::kC128; }

struct Tensor {
  DType dtype = DType::kU8;
  std::vector<int64_t> shape;
  std::string axes;
  std::vector<std::byte> bytes;

  int64_t count() const {
    int64_t total = 1;
    for (int64_t dim : shape) total *= dim;
    return total;
  }
  std::byte* at(int64_t element) { return bytes.data() + element * dtype_bytes(dtype); }
  const std::byte* at(int64_t element) const { return bytes.data() + element * dtype_bytes(dtype); }

  Field field(std::string name) const {
    Field out;
    out.name = std::move(name);
    out.dtype = dtype;
    out.shape = shape;
    out.axes = axes;
    return out;
  }
};

inline Tensor empty_tensor(DType dtype, std::vector<int64_t> shape, std::string axes) {
  Tensor out;
  out.dtype = dtype;
  out.shape = std::move(shape);
  out.axes = std::move(axes);
  out.bytes.resize(static_cast<size_t>(out.count() * dtype_bytes(dtype)));
  return out;
}

}  // namespace dataline::tests
