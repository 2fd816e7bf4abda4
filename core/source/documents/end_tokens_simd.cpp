// SPDX-License-Identifier: Apache-2.0
#include "core/source/documents/end_tokens.h"

#include <bit>
#include <cstring>

#define HWY_TARGET_INCLUDE "core/source/documents/end_tokens_simd.cpp"
#include "core/base/simd_targets.inc"

DATALINE_SIMD_BEGIN();
#if DATALINE_SIMD_LANES
namespace {
// Most vectors hold none: four at a time are looked at before any is looked into.
template <typename T>
int64_t find(const std::byte* data, int64_t count, uint64_t value, uint32_t first, uint32_t* out) {
  const hn::ScalableTag<T> d;
  constexpr int64_t kLanes = HWY_LANES(T), kStep = 4 * kLanes;
  const T* const tokens = reinterpret_cast<const T*>(data);
  const auto wanted = hn::Set(d, static_cast<T>(value));
  uint32_t* const begin = out;
  int64_t i = 0;
  for (; i + kStep <= count; i += kStep) {
    const auto a = hn::Eq(hn::LoadU(d, tokens + i), wanted);
    const auto b = hn::Eq(hn::LoadU(d, tokens + i + kLanes), wanted);
    const auto c = hn::Eq(hn::LoadU(d, tokens + i + 2 * kLanes), wanted);
    const auto e = hn::Eq(hn::LoadU(d, tokens + i + 3 * kLanes), wanted);
    if (HWY_LIKELY(hn::AllFalse(d, hn::Or(hn::Or(a, b), hn::Or(c, e))))) continue;
    for (int64_t k = i; k < i + kStep; ++k) {
      *out = first + static_cast<uint32_t>(k) + 1;
      out += static_cast<int64_t>(tokens[k] == static_cast<T>(value));
    }
  }
  for (; i < count; ++i) {
    if (tokens[i] == static_cast<T>(value)) *out++ = first + static_cast<uint32_t>(i) + 1;
  }
  return out - begin;
}

int64_t find8(const std::byte* data, int64_t count, uint64_t value, uint32_t first, uint32_t* out) {
  return find<uint8_t>(data, count, value, first, out);
}
int64_t find16(const std::byte* data, int64_t count, uint64_t value, uint32_t first, uint32_t* out) {
  return find<uint16_t>(data, count, value, first, out);
}
int64_t find32(const std::byte* data, int64_t count, uint64_t value, uint32_t first, uint32_t* out) {
  return find<uint32_t>(data, count, value, first, out);
}
int64_t find64(const std::byte* data, int64_t count, uint64_t value, uint32_t first, uint32_t* out) {
  return find<uint64_t>(data, count, value, first, out);
}
}  // namespace
#endif
DATALINE_SIMD_END();

#if DATALINE_SIMD_ONCE  // once, after the last target
namespace dataline {
namespace {
template <typename T>
int64_t find_plain(const std::byte* data, int64_t count, uint64_t value, uint32_t first, uint32_t* out) {
  uint32_t* const begin = out;
  for (int64_t i = 0; i < count; ++i) {
    T token;
    std::memcpy(&token, data + i * int64_t{sizeof token}, sizeof token);
    if (token == static_cast<T>(value)) *out++ = first + static_cast<uint32_t>(i) + 1;
  }
  return out - begin;
}
}  // namespace

FindTokens find_tokens_function(int64_t token_bytes, SimdTarget target) {
  switch (token_bytes) {
    case 1:
      return DATALINE_SIMD_PICK(target, FindTokens, find8, &find_plain<uint8_t>);
    case 2:
      return DATALINE_SIMD_PICK(target, FindTokens, find16, &find_plain<uint16_t>);
    case 4:
      return DATALINE_SIMD_PICK(target, FindTokens, find32, &find_plain<uint32_t>);
    default:
      return DATALINE_SIMD_PICK(target, FindTokens, find64, &find_plain<uint64_t>);
  }
}
}  // namespace dataline
#endif
