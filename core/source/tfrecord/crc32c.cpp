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

}  // namespace dataline
