// CRC-32C (Castagnoli's polynomial), the checksum of TFRecord files.
//
// Threads: immutable.
// Cost: with carry-less multiplication (SSE4, AVX2, AVX-512, NEON) 19 GB/s from the cache (a Xeon of 2025), without it 1.3 GB/s.
// Source: Gopal et al., "Fast CRC Computation for Generic Polynomials Using PCLMULQDQ Instruction", Intel 2009.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "core/base/bytes.h"
#include "core/base/simd.h"

namespace dataline {

constexpr uint32_t kCrc32cPolynomial = 0x82f63b78;  // bits turned round: the lowest is the highest power of x

// Of eight bytes at a time.
struct Crc32cTables {
  uint32_t at[8][256];
};
inline constexpr Crc32cTables kCrc32cTables = [] {
  Crc32cTables tables{};
  for (uint32_t byte = 0; byte < 256; ++byte) {
    uint32_t value = byte;
    for (int bit = 0; bit < 8; ++bit) value = (value >> 1) ^ ((value & 1) != 0 ? kCrc32cPolynomial : 0);
    tables.at[0][byte] = value;
  }
  for (size_t k = 1; k < 8; ++k) {
    for (size_t byte = 0; byte < 256; ++byte) {
      const uint32_t before = tables.at[k - 1][byte];
      tables.at[k][byte] = (before >> 8) ^ tables.at[0][before & 255];
    }
  }
  return tables;
}();

// Folds whole blocks of 64 bytes, at least one, into 16 bytes that have the same remainder; returns how many bytes it folded.
// `state`: the inverted checksum of what was before them.
using FoldCrc32c = int64_t (*)(uint32_t state, const std::byte* data, int64_t bytes, std::byte* folded);
FoldCrc32c fold_crc32c_function(SimdTarget target);  // null: the machine multiplies no polynomials

class Crc32c {
 public:
  explicit Crc32c(SimdTarget target) : fold_(fold_crc32c_function(target)) {}

  // The checksum of what has the checksum `crc` (0: nothing) and then these bytes.
  uint32_t extend(uint32_t crc, const std::byte* data, int64_t bytes) const;
  uint32_t of(Bytes bytes) const { return extend(0, bytes.data(), static_cast<int64_t>(bytes.size())); }

 private:
  FoldCrc32c fold_;
};

// The checksum of two pieces, one after the other, by those of each and the length of the second.
uint32_t join_crc32c(uint32_t first, uint32_t second, int64_t second_bytes);

// As TFRecord files hold it, so that a checksum of bytes that hold checksums stays a good one.
constexpr uint32_t mask_crc32c(uint32_t crc) { return ((crc >> 15) | (crc << 17)) + 0xa282ead8u; }

}  // namespace dataline
