// One element of a tail: from its stored type to f32, through affine maps, to the delivered type. Compiled by nvcc for
// the kernels and by the host compiler for their twins; results equal those of `cast` and `normalize` on the host bit for
// bit (core/transform/convert.h states the rules, tests compare the two).
//
// The one exception: which NaN an affine map makes from infinities depends on the processor. A stored NaN keeps its sign
// and upper bits, as on the host.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdint.h>
#include <string.h>

#include <type_traits>

#if defined(__CUDACC__)
#define DL_BOTH __host__ __device__ __forceinline__
#else
#define DL_BOTH [[gnu::always_inline]] inline
#endif

namespace dataline {
namespace kernel {

// Storage types. Elements that only move are raw: r8 .. r128.
struct f16 {
  uint16_t bits;
};
struct bf16 {
  uint16_t bits;
};
template <int kBytes>
struct alignas(kBytes) Raw {
  unsigned char bytes[kBytes];
};
using u8 = uint8_t;
using u16 = uint16_t;
using i32 = int32_t;
using i64 = int64_t;
using f32 = float;
using r8 = Raw<1>;
using r16 = Raw<2>;
using r32 = Raw<4>;
using r64 = Raw<8>;
using r128 = Raw<16>;

template <typename T>
constexpr bool kIsRaw = false;
template <int kBytes>
constexpr bool kIsRaw<Raw<kBytes>> = true;
template <typename T>
constexpr bool kIsFloat = std::is_same_v<T, f32> || std::is_same_v<T, f16> || std::is_same_v<T, bf16>;

template <typename To, typename From>
DL_BOTH To same_bits(From from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  memcpy(&to, &from, sizeof to);
  return to;
}

DL_BOTH bool is_nan(uint32_t bits) { return (bits & 0x7fffffffu) > 0x7f800000u; }

// ---- to f32

DL_BOTH float to_float(u8 x) { return static_cast<float>(x); }
DL_BOTH float to_float(u16 x) { return static_cast<float>(x); }
DL_BOTH float to_float(i32 x) { return static_cast<float>(x); }  // to nearest even
DL_BOTH float to_float(i64 x) { return static_cast<float>(x); }
DL_BOTH float to_float(f32 x) { return x; }
DL_BOTH float to_float(bf16 x) { return same_bits<float>(static_cast<uint32_t>(x.bits) << 16); }

DL_BOTH float to_float(f16 x) {
  const uint32_t sign = static_cast<uint32_t>(x.bits & 0x8000u) << 16;
  const uint32_t exponent = (x.bits >> 10) & 0x1fu, fraction = x.bits & 0x3ffu;
  if (exponent == 31)  // infinity or a quieted NaN
    return same_bits<float>(sign | 0x7f800000u | (fraction == 0 ? 0u : 0x400000u) | (fraction << 13));
#if defined(__CUDA_ARCH__)
  float wide;
  asm("cvt.f32.f16 %0, %1;" : "=f"(wide) : "h"(x.bits));
  return wide;
#else
  if (exponent == 0)  // a multiple of 2^-24, exact
    return same_bits<float>(sign | same_bits<uint32_t>(static_cast<float>(fraction) * 0x1.0p-24f));
  return same_bits<float>(sign | ((exponent + 112) << 23) | (fraction << 13));
#endif
}

// Integer to f32 with round to odd: the bits that do not fit are ORed into the lowest one, so that a later rounding to f16
// or bf16 equals a direct one.
DL_BOTH float to_odd_float(u8 x) { return static_cast<float>(x); }
DL_BOTH float to_odd_float(u16 x) { return static_cast<float>(x); }
DL_BOTH float to_odd_float(i32 x) {
  uint32_t magnitude = x < 0 ? 0 - static_cast<uint32_t>(x) : static_cast<uint32_t>(x);
  // Up to 24 bits are exact in f32; of more, bit 8 becomes the sticky bit for those below it.
  if (magnitude >> 24 != 0) magnitude = (magnitude & ~0xffu) | ((magnitude & 0xffu) != 0 ? 0x100u : 0u);
  const float wide = static_cast<float>(magnitude);  // exact now
  return x < 0 ? -wide : wide;
}
DL_BOTH float to_odd_float(i64 x) {
  uint64_t magnitude = x < 0 ? 0 - static_cast<uint64_t>(x) : static_cast<uint64_t>(x);
  if (magnitude >> 24 != 0) {
#if defined(__CUDA_ARCH__)
    const int surplus = 40 - __clzll(static_cast<long long>(magnitude));
#else
    const int surplus = 40 - __builtin_clzll(magnitude);
#endif
    const uint64_t low = (uint64_t{1} << surplus) - 1;
    magnitude = (magnitude & ~low) | ((magnitude & low) != 0 ? low + 1 : 0);
  }
  const float wide = static_cast<float>(magnitude);  // exact now
  return x < 0 ? -wide : wide;
}

// ---- from f32

template <typename To>
DL_BOTH To from_float(float x);

template <>
DL_BOTH f32 from_float<f32>(float x) {
  return x;
}

template <>
DL_BOTH f16 from_float<f16>(float x) {
  const uint32_t bits = same_bits<uint32_t>(x);
  const uint32_t sign = (bits >> 16) & 0x8000u, magnitude = bits & 0x7fffffffu;
  if (is_nan(bits)) return {static_cast<uint16_t>(sign | 0x7e00u | ((magnitude >> 13) & 0x3ffu))};
#if defined(__CUDA_ARCH__)
  f16 narrow;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(narrow.bits) : "f"(x));
  return narrow;
#else
  if (magnitude >= 0x477ff000u) return {static_cast<uint16_t>(sign | 0x7c00u)};  // 65520 rounds to infinity
  if (magnitude < 0x38800000u) {  // below 2^-14: a multiple of 2^-24; adding 0.5 makes the adder round to it
    const float rounded = same_bits<float>(magnitude) + 0.5f;
    return {static_cast<uint16_t>(sign | (same_bits<uint32_t>(rounded) - 0x3f000000u))};
  }
  const uint32_t odd = (magnitude >> 13) & 1u;
  return {static_cast<uint16_t>(sign | ((magnitude - 0x38000000u + 0xfffu + odd) >> 13))};
#endif
}

template <>
DL_BOTH bf16 from_float<bf16>(float x) {
  const uint32_t bits = same_bits<uint32_t>(x);
  if (is_nan(bits)) return {static_cast<uint16_t>((bits >> 16) | 0x40u)};
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  bf16 narrow;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(narrow.bits) : "f"(x));
  return narrow;
#else
  return {static_cast<uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16)};
#endif
}

// Toward zero, saturating, NaN to 0.
template <>
DL_BOTH i64 from_float<i64>(float x) {
  if (is_nan(same_bits<uint32_t>(x))) return 0;
  if (x <= -0x1.0p63f) return INT64_MIN;
  if (x >= 0x1.0p63f) return INT64_MAX;
  return static_cast<i64>(x);
}

// ---- both

template <typename To, typename From>
DL_BOTH To cast(From x) {
  if constexpr (std::is_same_v<To, From>) {
    return x;
  } else if constexpr (kIsFloat<From> || std::is_same_v<To, f32>) {
    return from_float<To>(to_float(x));
  } else if constexpr (std::is_same_v<To, i64>) {
    return static_cast<i64>(x);
  } else {
    return from_float<To>(to_odd_float(x));
  }
}

// x * a + b, rounded after the product and after the sum, never contracted to an fma.
template <typename From>
DL_BOTH float affine(float x, float a, float b) {
#if defined(__CUDA_ARCH__)
  const float y = __fadd_rn(__fmul_rn(x, a), b);
  if constexpr (kIsFloat<From>) {
    const uint32_t bits = same_bits<uint32_t>(x);  // device arithmetic returns one canonical NaN
    if (is_nan(bits)) return same_bits<float>(bits | 0x400000u);
  }
  return y;
#else
  const float product = x * a;
  return product + b;
#endif
}

}  // namespace kernel
}  // namespace dataline
