// SPDX-License-Identifier: Apache-2.0
#include "core/source/tfrecord/crc32c.h"

namespace dataline {
namespace {

constexpr int64_t kLeastFolded = 128;  // below it the table is as fast

uint32_t divide(uint32_t state, const std::byte* data, int64_t bytes) {
  const auto& table = kCrc32cTables.at;
  for (; bytes >= 8; bytes -= 8, data += 8) {
    const uint64_t word = load_little<uint64_t>(data) ^ state;
    state = table[7][word & 255] ^ table[6][word >> 8 & 255] ^ table[5][word >> 16 & 255] ^
            table[4][word >> 24 & 255] ^ table[3][word >> 32 & 255] ^ table[2][word >> 40 & 255] ^
            table[1][word >> 48 & 255] ^ table[0][word >> 56];
  }
  for (; bytes > 0; --bytes, ++data)
    state = (state >> 8) ^ table[0][(state ^ std::to_integer<uint32_t>(*data)) & 255];
  return state;
}

}  // namespace

uint32_t Crc32c::extend(uint32_t crc, const std::byte* data, int64_t bytes) const {
  uint32_t state = ~crc;
  if (fold_ != nullptr && bytes >= kLeastFolded) {
    std::byte folded[16];
    const int64_t done = fold_(state, data, bytes, folded);
    state = divide(0, folded, sizeof folded);
    data += done;
    bytes -= done;
  }
  return ~divide(state, data, bytes);
}

namespace {

// The product of two polynomials, modulo kCrc32cPolynomial; the highest bit is x^0.
uint32_t multiplied(uint32_t a, uint32_t b) {
  uint32_t product = 0;
  for (; a != 0; a <<= 1) {
    if ((a & 0x80000000u) != 0) product ^= b;
    b = (b >> 1) ^ ((b & 1) != 0 ? kCrc32cPolynomial : 0);
  }
  return product;
}

}  // namespace

// Zeros behind a piece multiply its remainder by x^8 for each byte; the power comes of squares.
uint32_t join_crc32c(uint32_t first, uint32_t second, int64_t second_bytes) {
  uint32_t power = 0x80000000u, square = 0x00800000u;  // 1, x^8
  for (; second_bytes > 0; second_bytes >>= 1) {
    if ((second_bytes & 1) != 0) power = multiplied(power, square);
    square = multiplied(square, square);
  }
  return multiplied(power, first) ^ second;
}

}  // namespace dataline
