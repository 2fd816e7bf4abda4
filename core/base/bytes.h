// Bytes as integers: one, or unaligned loads in a given byte order.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>

namespace dataline {

using Bytes = std::span<const std::byte>;  // borrowed

inline int byte_at(Bytes bytes, int64_t at) { return static_cast<int>(bytes[static_cast<size_t>(at)]); }

template <typename T>
requires std::is_trivially_copyable_v<T> T load_native(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

template <typename T>
requires std::is_unsigned_v<T>
constexpr T swap_bytes(T value) {
  if constexpr (sizeof(T) == 1) return value;
  if constexpr (sizeof(T) == 2) return __builtin_bswap16(value);
  if constexpr (sizeof(T) == 4) return __builtin_bswap32(value);
  if constexpr (sizeof(T) == 8) return __builtin_bswap64(value);
}

template <typename T>
requires std::is_unsigned_v<T> T load_little(const std::byte* from) {
  T value = load_native<T>(from);
  return std::endian::native == std::endian::little ? value : swap_bytes(value);
}

template <typename T>
requires std::is_unsigned_v<T> T load_big(const std::byte* from) {
  T value = load_native<T>(from);
  return std::endian::native == std::endian::big ? value : swap_bytes(value);
}

}  // namespace dataline
