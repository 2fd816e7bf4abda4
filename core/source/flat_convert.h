// Converting a column's bytes from how they are stored to how they are delivered.
// Threads: plain functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/base/dtype.h"

namespace dataline {

// Anything but kNone needs scratch.
enum class FlatConversion : int32_t {
  kNone = 0,
  kSwap2 = 1,  // elements of 2, 4 or 8 bytes in the other byte order
  kSwap4 = 2,
  kSwap8 = 3,
  // Labels stored as bytes and delivered as i64: eight times as long.
  kU8ToI64 = 4,
};

// The conversion to native byte order for a file in the other order.
FlatConversion swap_conversion(DType dtype);

// Bytes of a stored element; 1 where any number of bytes is fine.
int64_t conversion_element_bytes(FlatConversion conversion);
int64_t converted_bytes(FlatConversion conversion, int64_t stored_bytes);

// `stored_bytes` is a multiple of the element size. Swaps may work in place (`to` == `from`).
void convert_bytes(FlatConversion conversion, const std::byte* from, int64_t stored_bytes, std::byte* to);

}  // namespace dataline
