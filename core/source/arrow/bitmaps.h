// Bitmaps of Arrow: bit i of a byte is its i-th lowest. In those that tell nulls a bit of 0 is a null.
// Threads: plain functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace dataline {

inline bool bit_of(const std::byte* bits, int64_t i) {
  return (static_cast<int>(bits[i >> 3]) >> (i & 7) & 1) != 0;
}
// Bits [first, first + count) as bytes of 0 and 1.
void unpack_bits(const std::byte* bits, int64_t first, int64_t count, std::byte* out);
// The first bit of 0 in the range, counted from `first`; -1: none.
int64_t find_zero_bit(const std::byte* bits, int64_t first, int64_t count);

}  // namespace dataline
