// SPDX-License-Identifier: Apache-2.0
#include "core/base/dtype.h"

#include <array>
#include <cstring>
#include <utility>

namespace dataline {
namespace {

struct Entry {
  DType dtype;
  std::string_view name;
  int64_t bytes;
};

constexpr std::array<Entry, 15> kDtypes = {{{DType::kBool, "bool", 1},
                                            {DType::kU8, "u8", 1},
                                            {DType::kU16, "u16", 2},
                                            {DType::kU32, "u32", 4},
                                            {DType::kU64, "u64", 8},
                                            {DType::kI8, "i8", 1},
                                            {DType::kI16, "i16", 2},
                                            {DType::kI32, "i32", 4},
                                            {DType::kI64, "i64", 8},
                                            {DType::kF16, "f16", 2},
                                            {DType::kBf16, "bf16", 2},
                                            {DType::kF32, "f32", 4},
                                            {DType::kF64, "f64", 8},
                                            {DType::kC64, "c64", 8},
                                            {DType::kC128, "c128", 16}}};

template <typename Int>
bool store_as(int64_t value, std::byte* out) {
  if (!std::in_range<Int>(value)) return false;
  const auto stored = static_cast<Int>(value);
  std::memcpy(out, &stored, sizeof stored);
  return true;
}

const Entry& entry(DType dtype) { return kDtypes[static_cast<size_t>(dtype) - 1]; }

}  // namespace

int64_t dtype_bytes(DType dtype) { return entry(dtype).bytes; }
std::string_view dtype_name(DType dtype) { return entry(dtype).name; }

std::optional<DType> dtype_from_name(std::string_view name) {
  for (const Entry& e : kDtypes) {
    if (e.name == name) return e.dtype;
  }
  return std::nullopt;
}

bool dtype_is_integer(DType dtype) { return dtype >= DType::kU8 && dtype <= DType::kI64; }
bool dtype_is_float(DType dtype) { return dtype >= DType::kF16 && dtype <= DType::kF64; }

bool store_whole(DType dtype, int64_t value, std::byte* out) {
  switch (dtype) {
    case DType::kBool:
      return (value == 0 || value == 1) && store_as<uint8_t>(value, out);
    case DType::kU8:
      return store_as<uint8_t>(value, out);
    case DType::kU16:
      return store_as<uint16_t>(value, out);
    case DType::kU32:
      return store_as<uint32_t>(value, out);
    case DType::kU64:
      return store_as<uint64_t>(value, out);
    case DType::kI8:
      return store_as<int8_t>(value, out);
    case DType::kI16:
      return store_as<int16_t>(value, out);
    case DType::kI32:
      return store_as<int32_t>(value, out);
    case DType::kI64:
      return store_as<int64_t>(value, out);
    default:
      return false;
  }
}

}  // namespace dataline
