// Gathering scattered rows: software prefetch, since the hardware cannot predict their addresses, and rows of up to 64 bytes
// (labels, scalars, short vectors) through registers, inlined into the plain loop and into one per vector target.
//
// The prefetch hint is L2: rows are prefetched a dozen ahead, and an L1 hint would occupy the few line fill buffers (784-byte
// rows of a 47 MB set, Zen 4: 45 ns per row, 70 with the L1 hint, 85 without prefetch).
//
// Small rows: the fewer instructions per row, the more cache misses overlap in the out-of-order window. So the caller checks
// for failed rows beforehand, and rows of a few bytes are not prefetched.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "core/transform/elements/kernels.h"

namespace dataline {

constexpr int64_t kLineBytes = 64;
// Of larger rows only the beginning is prefetched: the hardware detects the stream after some lines.
constexpr int64_t kWholeRowBytes = 8192;
constexpr int64_t kFirstBytes = 16 * kLineBytes;

// How many rows ahead: about 12 KiB, a fraction of any L2 cache.
constexpr int64_t prefetch_rows(int64_t row_bytes) {
  return std::clamp<int64_t>(12288 / std::max<int64_t>(row_bytes, 1), 2, 32);
}

// Always inlined: GCC considers a function that only prefetches to be without effect and removes its calls.
[[gnu::always_inline]] inline void prefetch_row(const std::byte* source, int64_t offset, int64_t row_bytes) {
  const uintptr_t begin = reinterpret_cast<uintptr_t>(source) + static_cast<uintptr_t>(offset);
  const uintptr_t end = begin + static_cast<uintptr_t>(row_bytes <= kWholeRowBytes ? row_bytes : kFirstBytes);
  for (uintptr_t line = begin & ~static_cast<uintptr_t>(kLineBytes - 1); line < end; line += kLineBytes)
    __builtin_prefetch(reinterpret_cast<const void*>(line), 0, 2);  // 2: into L2
}

// For rows up to this size out-of-order execution already overlaps the misses of the next rows.
constexpr int64_t kTinyRowBytes = 16;
constexpr int64_t kTinyAhead = 16;

// For a row of at most two cache lines.
[[gnu::always_inline]] inline void prefetch_ends(const std::byte* source, int64_t offset, int64_t row_bytes) {
  const uintptr_t begin = reinterpret_cast<uintptr_t>(source) + static_cast<uintptr_t>(offset);
  __builtin_prefetch(reinterpret_cast<const void*>(begin), 0, 2);
  __builtin_prefetch(reinterpret_cast<const void*>(begin + static_cast<uintptr_t>(row_bytes) - 1), 0, 2);
}

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
  if (row_bytes == 1) return find.template operator()<1, false>();
  if (row_bytes == 2) return find.template operator()<2, false>();
  if (row_bytes == 4) return find.template operator()<4, false>();
  if (row_bytes == 8) return find.template operator()<8, false>();
  if (row_bytes == 16) return find.template operator()<16, false>();
  if (row_bytes == 3) return find.template operator()<4, true>();
  if (row_bytes > 4 && row_bytes < 8) return find.template operator()<8, true>();
  if (row_bytes > 8 && row_bytes < 16) return find.template operator()<16, true>();
  if (row_bytes > 16 && row_bytes <= 32) return find.template operator()<32, true>();
  if (row_bytes > 32 && row_bytes <= kSmallRowLimit) return find.template operator()<64, true>();
  return nullptr;
}

}  // namespace dataline
