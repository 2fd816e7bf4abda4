// Loops that copy rows.
//
// What helps, measured on Zen 3 and Zen 5: prefetching rows about 12 KiB ahead, into the L2 cache, because L1 has few miss
// buffers; several loads before their stores; aligned stores; non-temporal stores for slots that are in no cache.
// SPDX-License-Identifier: Apache-2.0
#include "bindings/cli/gather_loops.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include <algorithm>
#include <cstring>

namespace dataline::cli {
namespace {

constexpr size_t kLineBytes = 64;
constexpr size_t kAheadBytes = 12288;
constexpr size_t kMinStreamedBytes = 512;  // shorter rows are mostly unaligned ends

// kHint: 3 prefetches into L1, 2 into L2.
template <int kHint>
[[gnu::always_inline]] inline void prefetch(const std::byte* row, size_t bytes) {
  const auto begin = reinterpret_cast<uintptr_t>(row);
  for (uintptr_t line = begin & ~(kLineBytes - 1); line < begin + bytes; line += kLineBytes) {
    __builtin_prefetch(reinterpret_cast<const void*>(line), 0, kHint);
  }
}

// One memcpy per row.
template <size_t kAhead>
void with_memcpy(const std::byte* rows, size_t stride, size_t from, size_t bytes, const uint32_t* order,
                 size_t count, std::byte* out) {
  rows += from;
  for (size_t i = 0; i < count; ++i, out += bytes) {
    if constexpr (kAhead > 0) prefetch<3>(rows + order[i + kAhead] * stride, bytes);
    std::memcpy(out, rows + order[i] * stride, bytes);
  }
}

// Rows that fit into a register.
template <typename Word, size_t kAhead>
void of_words(const std::byte* rows, size_t stride, size_t from, size_t, const uint32_t* order, size_t count,
              std::byte* out) {
  rows += from;
  for (size_t i = 0; i < count; ++i, out += sizeof(Word)) {
    if constexpr (kAhead > 0) prefetch<3>(rows + order[i + kAhead] * stride, sizeof(Word));
    std::memcpy(out, rows + order[i] * stride, sizeof(Word));
  }
}

template <typename Word>
std::vector<GatherLoop> word_loops() {
  return {of_words<Word, 0>, of_words<Word, 8>, of_words<Word, 16>, of_words<Word, 32>};
}

template <size_t kBytes>
struct Wide {
  typedef unsigned char Vector __attribute__((vector_size(kBytes), aligned(1), may_alias));
};

// Rows of kVectors vectors, of which the last may overlap the one before: all loads, then all stores.
template <size_t kBytes, size_t kVectors>
[[gnu::always_inline]] inline void copy_short(const std::byte* from, std::byte* to, size_t bytes) {
  using Vector = typename Wide<kBytes>::Vector;
  Vector held[kVectors];
#pragma GCC unroll 8
  for (size_t i = 0; i < kVectors; ++i) {
    const size_t at = i + 1 < kVectors ? i * kBytes : bytes - kBytes;
    held[i] = *reinterpret_cast<const Vector*>(from + at);
  }
#pragma GCC unroll 8
  for (size_t i = 0; i < kVectors; ++i) {
    const size_t at = i + 1 < kVectors ? i * kBytes : bytes - kBytes;
    *reinterpret_cast<Vector*>(to + at) = held[i];
  }
}

// Longer rows: unaligned first and last vectors, and between them groups of loads and aligned stores.
template <size_t kBytes>
[[gnu::always_inline]] inline void copy_long(const std::byte* from, std::byte* to, size_t bytes) {
  using Vector = typename Wide<kBytes>::Vector;
  constexpr size_t kGroup = 4 * kBytes;
  const Vector last = *reinterpret_cast<const Vector*>(from + bytes - kBytes);
  *reinterpret_cast<Vector*>(to) = *reinterpret_cast<const Vector*>(from);
  size_t at = kBytes - (reinterpret_cast<uintptr_t>(to) & (kBytes - 1));
  for (; at + kGroup <= bytes; at += kGroup) copy_short<kBytes, 4>(from + at, to + at, kGroup);
  for (; at + kBytes <= bytes; at += kBytes) copy_short<kBytes, 1>(from + at, to + at, kBytes);
  *reinterpret_cast<Vector*>(to + bytes - kBytes) = last;
}

#if defined(__x86_64__)
// The same with non-temporal stores between the first and the last vector.
#define DATALINE_STREAM_ROW(NAME, WIDTH, VECTOR, LOAD, STREAM, TARGET)                              \
  TARGET inline void NAME(const std::byte* from, std::byte* to, size_t bytes) {                     \
    const VECTOR last = LOAD(reinterpret_cast<const VECTOR*>(from + bytes - WIDTH));                \
    std::memcpy(to, from, WIDTH);                                                                   \
    size_t at = WIDTH - (reinterpret_cast<uintptr_t>(to) & (WIDTH - 1));                            \
    for (; at + WIDTH <= bytes; at += WIDTH)                                                        \
      STREAM(reinterpret_cast<VECTOR*>(to + at), LOAD(reinterpret_cast<const VECTOR*>(from + at))); \
    std::memcpy(to + bytes - WIDTH, &last, WIDTH);                                                  \
  }
DATALINE_STREAM_ROW(stream_row_32, 32, __m256i, _mm256_loadu_si256, _mm256_stream_si256,
                    __attribute__((target("avx2"))))
DATALINE_STREAM_ROW(stream_row_64, 64, __m512i, _mm512_loadu_si512, _mm512_stream_si512,
                    __attribute__((target("avx512f,avx512bw"))))

#define DATALINE_STREAM_LOOP(NAME, ROW, TARGET)                                                            \
  TARGET void NAME(const std::byte* rows, size_t stride, size_t from, size_t bytes, const uint32_t* order, \
                   size_t count, std::byte* out) {                                                         \
    const size_t ahead = std::clamp<size_t>(kAheadBytes / bytes, 2, 32);                                   \
    rows += from;                                                                                          \
    for (size_t i = 0; i < count; ++i, out += bytes) {                                                     \
      prefetch<2>(rows + order[i + ahead] * stride, bytes);                                                \
      ROW(rows + order[i] * stride, out, bytes);                                                           \
    }                                                                                                      \
    _mm_sfence();                                                                                          \
  }
DATALINE_STREAM_LOOP(streamed_by_32, stream_row_32, __attribute__((target("avx2"))))
DATALINE_STREAM_LOOP(streamed_by_64, stream_row_64, __attribute__((target("avx512f,avx512bw"))))
#endif

// kVectors 0: any length of at least kBytes.
template <size_t kBytes, size_t kVectors, int kHint>
[[gnu::always_inline]] inline void in_groups(const std::byte* rows, size_t stride, size_t bytes,
                                             const uint32_t* order, size_t count, std::byte* out) {
  const size_t ahead = std::clamp<size_t>(kAheadBytes / bytes, 2, 32);
  for (size_t i = 0; i < count; ++i, out += bytes) {
    prefetch<kHint>(rows + order[i + ahead] * stride, bytes);
    const std::byte* row = rows + order[i] * stride;
    if constexpr (kVectors == 0) {
      copy_long<kBytes>(row, out, bytes);
    } else {
      copy_short<kBytes, kVectors>(row, out, bytes);
    }
  }
}

// One family of loops per vector width, compiled for the instructions it needs.
#define DATALINE_GATHER_FAMILY(NAME, WIDTH, TARGET)                                                        \
  template <size_t kVectors, int kHint>                                                                    \
  TARGET void NAME(const std::byte* rows, size_t stride, size_t from, size_t bytes, const uint32_t* order, \
                   size_t count, std::byte* out) {                                                         \
    in_groups<WIDTH, kVectors, kHint>(rows + from, stride, bytes, order, count, out);                      \
  }                                                                                                        \
  void add_##NAME(size_t bytes, std::vector<GatherLoop>& loops) {                                          \
    if (bytes < WIDTH) return;                                                                             \
    switch ((bytes + WIDTH - 1) / WIDTH) {                                                                 \
      case 1:                                                                                              \
        loops.insert(loops.end(), {NAME<1, 2>, NAME<1, 3>});                                               \
        break;                                                                                             \
      case 2:                                                                                              \
        loops.insert(loops.end(), {NAME<2, 2>, NAME<2, 3>});                                               \
        break;                                                                                             \
      case 3:                                                                                              \
        loops.insert(loops.end(), {NAME<3, 2>, NAME<3, 3>});                                               \
        break;                                                                                             \
      case 4:                                                                                              \
        loops.insert(loops.end(), {NAME<4, 2>, NAME<4, 3>});                                               \
        break;                                                                                             \
      case 5:                                                                                              \
        loops.insert(loops.end(), {NAME<5, 2>, NAME<5, 3>});                                               \
        break;                                                                                             \
      case 6:                                                                                              \
        loops.insert(loops.end(), {NAME<6, 2>, NAME<6, 3>});                                               \
        break;                                                                                             \
      case 7:                                                                                              \
        loops.insert(loops.end(), {NAME<7, 2>, NAME<7, 3>});                                               \
        break;                                                                                             \
      case 8:                                                                                              \
        loops.insert(loops.end(), {NAME<8, 2>, NAME<8, 3>});                                               \
        break;                                                                                             \
      default:                                                                                             \
        loops.insert(loops.end(), {NAME<0, 2>, NAME<0, 3>});                                               \
    }                                                                                                      \
  }
DATALINE_GATHER_FAMILY(by_16, 16, )
#if defined(__x86_64__)
DATALINE_GATHER_FAMILY(by_32, 32, __attribute__((target("avx2"))))
DATALINE_GATHER_FAMILY(by_64, 64, __attribute__((target("avx512f,avx512bw"))))
#endif

}  // namespace

std::vector<GatherLoop> gather_loops(size_t bytes) {
  if (bytes == 1) return word_loops<uint8_t>();
  if (bytes == 2) return word_loops<uint16_t>();
  if (bytes == 4) return word_loops<uint32_t>();
  if (bytes == 8) return word_loops<uint64_t>();
  std::vector<GatherLoop> loops = {with_memcpy<0>, with_memcpy<4>, with_memcpy<8>, with_memcpy<16>};
  add_by_16(bytes, loops);
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2")) add_by_32(bytes, loops);
  const bool has_avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw");
  if (has_avx512) add_by_64(bytes, loops);
  if (bytes >= kMinStreamedBytes && __builtin_cpu_supports("avx2")) loops.push_back(streamed_by_32);
  if (bytes >= kMinStreamedBytes && has_avx512) loops.push_back(streamed_by_64);
#endif
  return loops;
}

}  // namespace dataline::cli
