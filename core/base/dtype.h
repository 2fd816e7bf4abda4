// Element types of tensors and their names, as users type them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace dataline {

// The values are those of DL_DTYPE_* in capi/dataline.h.
enum class DType : int32_t {
  kBool = 1,
  kU8 = 2,
  kU16 = 3,
  kU32 = 4,
  kU64 = 5,
  kI8 = 6,
  kI16 = 7,
  kI32 = 8,
  kI64 = 9,
  kF16 = 10,
  kBf16 = 11,
  kF32 = 12,
  kF64 = 13,
  kC64 = 14,   // two f32
  kC128 = 15,  // two f64
};

int64_t dtype_bytes(DType dtype);
std::string_view dtype_name(DType dtype);                     // "u8", "bf16", ...
std::optional<DType> dtype_from_name(std::string_view name);  // exact spelling
bool dtype_is_integer(DType dtype);                           // not bool
bool dtype_is_float(DType dtype);                             // f16 bf16 f32 f64

// Writes a whole number as an element of an integer type, or of bool (0, 1). False, and nothing is written: it cannot hold that.
bool store_whole(DType dtype, int64_t value, std::byte* out);

}  // namespace dataline
