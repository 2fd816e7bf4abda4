// Bytes of a column on their way from the file's form to the delivered one.
// Threads: plain functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/base/dtype.h"

namespace dataline {

// What happens to a column's bytes between the file and the run; anything but kNone goes through scratch.
enum class FlatConversion : int32_t {
  kNone = 0,
  kSwap2 = 1,  // elements of 2, 4 or 8 bytes, stored in the other byte order
  kSwap4 = 2,
  kSwap8 = 3,
  // Labels stored as bytes, delivered as i64: rows are eight times as long as stored.
  kU8ToI64 = 4,
};

// The conversion that delivers elements of `dtype` in native order when the file's order is the other one.
FlatConversion swap_conversion(DType dtype);

// Bytes of a stored element; 1 where any number will do.
int64_t conversion_element_bytes(FlatConversion conversion);
int64_t converted_bytes(FlatConversion conversion, int64_t stored_bytes);

// `stored_bytes` is a multiple of the element. The swaps may work in place (`to` == `from`).
void convert_bytes(FlatConversion conversion, const std::byte* from, int64_t stored_bytes, std::byte* to);

}  // namespace dataline
