// Eight bytes at a step, by eight tables: about 2 GB/s, a few times what a disk takes.
// Source: RFC 1952, section 8; M. Kounavis, F. Berry, "A Systematic Approach to Building High Performance Software-Based CRC
// Generators" (2005).
// SPDX-License-Identifier: Apache-2.0
#include "core/source/crc32.h"

#include <array>

namespace dataline {
namespace {

using Crc32Tables = std::array<std::array<uint32_t, 256>, 8>;

constexpr Crc32Tables make_crc32_tables() {
  Crc32Tables out = {};
  for (uint32_t byte = 0; byte < 256; ++byte) {
    uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ ((crc & 1) != 0 ? 0xEDB88320u : 0);
    out[0][byte] = crc;
  }
  for (size_t t = 1; t < 8; ++t) {
    for (size_t byte = 0; byte < 256; ++byte)
      out[t][byte] = out[t - 1][byte] >> 8 ^ out[0][out[t - 1][byte] & 255];
  }
  return out;
}

constexpr Crc32Tables kCrc32 = make_crc32_tables();

}  // namespace

uint32_t extend_crc32(uint32_t crc, Bytes bytes) {
  crc = ~crc;
  const std::byte* at = bytes.data();
  const std::byte* const end = at + bytes.size();
  for (; end - at >= 8; at += 8) {
    const uint64_t word = load_little<uint64_t>(at) ^ crc;
    crc = 0;
    for (size_t i = 0; i < 8; ++i) crc ^= kCrc32[7 - i][word >> (8 * i) & 255];
  }
  for (; at != end; ++at) crc = crc >> 8 ^ kCrc32[0][(crc ^ static_cast<uint32_t>(*at)) & 255];
  return ~crc;
}

}  // namespace dataline
