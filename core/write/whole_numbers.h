// Whole numbers of any dtype as 64 bits, negative ones extended by their sign.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "core/base/bytes.h"
#include "core/base/dtype.h"

namespace dataline {

inline bool is_signed_dtype(DType dtype) {
  return dtype == DType::kI8 || dtype == DType::kI16 || dtype == DType::kI32 || dtype == DType::kI64;
}

inline uint64_t whole_number_at(DType dtype, const std::byte* at) {
  switch (dtype) {
    case DType::kU16:
      return load_native<uint16_t>(at);
    case DType::kU32:
      return load_native<uint32_t>(at);
    case DType::kI8:
      return static_cast<uint64_t>(int64_t{load_native<int8_t>(at)});
    case DType::kI16:
      return static_cast<uint64_t>(int64_t{load_native<int16_t>(at)});
    case DType::kI32:
      return static_cast<uint64_t>(int64_t{load_native<int32_t>(at)});
    case DType::kU64:
    case DType::kI64:
      return load_native<uint64_t>(at);
    case DType::kBool:
      return *at == std::byte{0} ? 0 : 1;
    default:
      return load_native<uint8_t>(at);
  }
}

}  // namespace dataline
