// SPDX-License-Identifier: Apache-2.0
#include "core/source/tfrecord/crc32c.h"

#define HWY_TARGET_INCLUDE "core/source/tfrecord/crc32c_simd.cpp"
#include "core/base/simd_targets.inc"

DATALINE_SIMD_BEGIN();
#if DATALINE_SIMD_LANES
namespace {
// x to the power n, modulo the polynomial.
constexpr uint64_t power_of_x(int n) {
  uint32_t value = uint32_t{1} << 31;
  for (int i = 0; i < n; ++i) value = (value >> 1) ^ ((value & 1) != 0 ? kCrc32cPolynomial : 0);
  return value;
}

// What moves the two halves of a vector `bits` onwards. A product of two numbers whose bits are turned round is one bit short,
// and the 32-bit factor stands in the low half of its lane: hence 31 and 33.
constexpr uint64_t kOver64Bytes[2] = {power_of_x(512 + 31), power_of_x(512 - 33)};
constexpr uint64_t kOver16Bytes[2] = {power_of_x(128 + 31), power_of_x(128 - 33)};

using D64 = hn::FixedTag<uint64_t, 2>;
using D8 = hn::FixedTag<uint8_t, 16>;
using V64 = hn::Vec<D64>;

HWY_INLINE V64 load_16(const std::byte* from) {
  return hn::BitCast(D64(), hn::LoadU(D8(), reinterpret_cast<const uint8_t*>(from)));
}
HWY_INLINE V64 folded(V64 value, V64 powers, V64 next) {
  return hn::Xor(hn::Xor(hn::CLMulLower(value, powers), hn::CLMulUpper(value, powers)), next);
}

// Four vectors at a time, because a multiplication takes several cycles and one begins in each.
int64_t fold(uint32_t state, const std::byte* data, int64_t bytes, std::byte* out) {
  const D64 d;
  const uint64_t first[2] = {state, 0};
  const std::byte* const begin = data;
  V64 a = hn::Xor(load_16(data), hn::LoadU(d, first));
  V64 b = load_16(data + 16), c = load_16(data + 32), e = load_16(data + 48);
  const V64 far = hn::LoadU(d, kOver64Bytes);
  for (data += 64, bytes -= 64; bytes >= 64; data += 64, bytes -= 64) {
    a = folded(a, far, load_16(data));
    b = folded(b, far, load_16(data + 16));
    c = folded(c, far, load_16(data + 32));
    e = folded(e, far, load_16(data + 48));
  }
  const V64 near = hn::LoadU(d, kOver16Bytes);
  const V64 all = folded(folded(folded(a, near, b), near, c), near, e);
  hn::StoreU(hn::BitCast(D8(), all), D8(), reinterpret_cast<uint8_t*>(out));
  return data - begin;
}
}  // namespace
#endif
DATALINE_SIMD_END();

#if DATALINE_SIMD_ONCE  // once, after the last target
namespace dataline {
FoldCrc32c fold_crc32c_function(SimdTarget target) {
  return DATALINE_SIMD_PICK(target, FoldCrc32c, fold, nullptr);
}
}  // namespace dataline
#endif
