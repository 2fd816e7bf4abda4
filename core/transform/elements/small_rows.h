// Gathering rows of up to 64 bytes through registers: labels, scalars, short vectors. Inlined into the plain loop and into
// one per vector target.
//
// The fewer instructions per row, the more cache misses overlap in the out-of-order window. So the caller checks for failed
// rows beforehand, and rows of a few bytes are not prefetched.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstring>

#include "core/transform/elements/kernels.h"
#include "core/transform/elements/prefetch.h"

namespace dataline {

constexpr int64_t kSmallRowLimit = 64;

// A row of kBytes; with kOverlap a row of more than kBytes / 2 and at most kBytes, copied as two overlapping pieces.
template <int64_t kBytes, bool kOverlap>
[[gnu::always_inline]] inline void copy_small(const RowCopy& copy, bool all_present) {
  constexpr int64_t kPiece = kOverlap ? kBytes / 2 : kBytes;
  const int64_t last = copy.row_bytes - kPiece, offset = copy.source_offset, stride = copy.target_stride;
  const auto one = [=](const std::byte* from, std::byte* to) __attribute__((always_inline)) {
    std::array<std::byte, kPiece> head, tail;
    std::memcpy(&head, from, kPiece);
    if (kOverlap) std::memcpy(&tail, from + last, kPiece);
    std::memcpy(to, &head, kPiece);
    if (kOverlap) std::memcpy(to + last, &tail, kPiece);
  };
  const std::byte* const* source = copy.source;
  std::byte* to = copy.target;
  int64_t i = 0;
  if (!all_present) {
    for (; i < copy.count; ++i, to += stride) {
      if (source[i] != nullptr) one(source[i] + offset, to);
    }
    return;
  }
  for (; kBytes > kTinyRowBytes && i + kTinyAhead < copy.count; ++i, to += stride) {
    prefetch_ends(source[i + kTinyAhead], offset, copy.row_bytes);
    one(source[i] + offset, to);
  }
#pragma GCC unroll 4
  for (; i < copy.count; ++i, to += stride) one(source[i] + offset, to);
}

// The result of find.template operator()<kBytes, kOverlap>() for a row of this size; null above the limit.
template <typename Find>
RowCopyKernel small_row_kernel(int64_t row_bytes, Find find) {
  switch (row_bytes) {
    case 1:
      return find.template operator()<1, false>();
    case 2:
      return find.template operator()<2, false>();
    case 4:
      return find.template operator()<4, false>();
    case 8:
      return find.template operator()<8, false>();
    case 16:
      return find.template operator()<16, false>();
    default:
      break;
  }
  if (row_bytes == 3) return find.template operator()<4, true>();
  if (row_bytes > 4 && row_bytes < 8) return find.template operator()<8, true>();
  if (row_bytes > 8 && row_bytes < 16) return find.template operator()<16, true>();
  if (row_bytes > 16 && row_bytes <= 32) return find.template operator()<32, true>();
  if (row_bytes > 32 && row_bytes <= kSmallRowLimit) return find.template operator()<64, true>();
  return nullptr;
}

}  // namespace dataline
