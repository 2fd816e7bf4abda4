// Overflow-checked arithmetic for integers from a file or a caller.
// Readers use nothing else on parsed integers.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>

namespace dataline {

// For products that need no check: of two 64-bit integers, and what is added to them. gcc and clang have it on all our targets.
__extension__ typedef unsigned __int128 u128;

inline std::optional<int64_t> checked_add(int64_t a, int64_t b) {
  int64_t out;
  if (__builtin_add_overflow(a, b, &out)) return std::nullopt;
  return out;
}

inline std::optional<int64_t> checked_multiply(int64_t a, int64_t b) {
  int64_t out;
  if (__builtin_mul_overflow(a, b, &out)) return std::nullopt;
  return out;
}

// The product of the dims; nullopt when one is negative or the product overflows.
inline std::optional<int64_t> checked_product(std::span<const int64_t> dims) {
  int64_t out = 1;
  for (int64_t dim : dims) {
    if (dim < 0) return std::nullopt;
    if (__builtin_mul_overflow(out, dim, &out)) return std::nullopt;
  }
  return out;
}

// Whether [offset, offset + bytes) lies in [0, total). Cannot overflow: it subtracts instead of adding.
inline bool extent_fits(int64_t offset, int64_t bytes, int64_t total) {
  return offset >= 0 && bytes >= 0 && bytes <= total && offset <= total - bytes;
}

inline std::optional<int64_t> to_i64(uint64_t value) {
  if (value > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) return std::nullopt;
  return static_cast<int64_t>(value);
}

// The smallest multiple of `unit` (a power of two) that is >= value; value must be at most 2^62.
constexpr int64_t round_up(int64_t value, int64_t unit) { return (value + unit - 1) & ~(unit - 1); }

}  // namespace dataline
