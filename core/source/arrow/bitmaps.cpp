// SPDX-License-Identifier: Apache-2.0
#include "core/source/arrow/bitmaps.h"

#include <bit>
#include <cstring>

#include "core/base/bytes.h"

namespace dataline {

void unpack_bits(const std::byte* bits, int64_t first, int64_t count, std::byte* out) {
  int64_t i = 0;
  for (; i < count && (first + i) % 8 != 0; ++i) out[i] = static_cast<std::byte>(bit_of(bits, first + i));
  for (; i + 8 <= count; i += 8) {
    // Byte k of the word keeps bit k; adding what is missing to 0x80 moves it to the top of its byte, without a carry.
    constexpr uint64_t kEach = 0x0101010101010101u, kBitOfEach = 0x8040201008040201u,
                       kMissing = 0x00406070787c7e7fu;
    const uint64_t spread = std::to_integer<uint64_t>(bits[(first + i) >> 3]) * kEach & kBitOfEach;
    uint64_t eight = ((spread + kMissing) >> 7) & kEach;
    if constexpr (std::endian::native == std::endian::big) eight = swap_bytes(eight);
    std::memcpy(out + i, &eight, sizeof eight);
  }
  for (; i < count; ++i) out[i] = static_cast<std::byte>(bit_of(bits, first + i));
}

int64_t find_zero_bit(const std::byte* bits, int64_t first, int64_t count) {
  int64_t i = 0;
  while (i < count) {
    const int64_t at = first + i;
    if (at % 8 == 0 && count - i >= 64 && load_native<uint64_t>(bits + at / 8) == ~uint64_t{0}) {
      i += 64;
    } else if (!bit_of(bits, at)) {
      return i;
    } else {
      ++i;
    }
  }
  return -1;
}

}  // namespace dataline
