// Filling a range with one element, and copies of a few dozen bytes without a call.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace dataline {

// Writes `count` copies of the `bytes` bytes at `element`, doubling the written range with each memcpy.
inline void fill_elements(std::byte* to, int64_t count, const std::byte* element, int64_t bytes) {
  if (count <= 0 || bytes <= 0) return;
  const int64_t total = count * bytes;
  if (std::all_of(element, element + bytes, [&](std::byte byte) { return byte == element[0]; })) {
    std::memset(to, std::to_integer<int>(element[0]), static_cast<size_t>(total));
    return;
  }
  std::memcpy(to, element, static_cast<size_t>(bytes));
  for (int64_t done = bytes; done < total;) {
    const int64_t next = std::min(done, total - done);
    std::memcpy(to + done, to, static_cast<size_t>(next));
    done += next;
  }
}

// For lines of small images, where a memcpy call costs as much as the copy.
inline void copy_line(std::byte* to, const std::byte* from, int64_t bytes) {
  constexpr int64_t kPiece = 16;
  constexpr int64_t kMax = 256;
  if (bytes < kPiece || bytes > kMax) {
    if (bytes > 0) std::memcpy(to, from, static_cast<size_t>(bytes));
    return;
  }
  std::array<std::byte, kPiece> piece;
  for (int64_t i = 0; i + kPiece < bytes; i += kPiece) {
    std::memcpy(&piece, from + i, kPiece);
    std::memcpy(to + i, &piece, kPiece);
  }
  std::memcpy(&piece, from + bytes - kPiece, kPiece);
  std::memcpy(to + bytes - kPiece, &piece, kPiece);
}

}  // namespace dataline
