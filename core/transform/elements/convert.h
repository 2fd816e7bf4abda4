// Conversion of one value between stored types: the rules of `cast`, scalar and exact. The vector kernels return the same
// bits.
//
//   integer -> float     exact where possible, else to nearest even, in one rounding
//   float -> integer     toward zero, saturating, NaN to 0
//   integer -> integer   saturating
//   float -> float       to nearest even in one rounding; a NaN stays a quiet NaN and keeps its upper bits
//   anything -> bool     not equal to zero (a NaN is true, as in NumPy and PyTorch); bool -> anything 0 or 1
//   bool -> bool         0 or 1: a file may hold other bytes, which are invalid bools in most languages
//   real -> complex      the imaginary part is 0; complex -> real is rejected by the operator
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <tuple>
#include <type_traits>
#include <utility>

#include "core/base/bytes.h"
#include "core/base/dtype.h"
#include "core/base/half.h"
#include "core/transform/elements/kernels.h"

namespace dataline {

// Storage of types that C++20 lacks.
struct Bool8 {
  uint8_t byte;
};
struct Half {
  uint16_t bits;
};
struct Bfloat {
  uint16_t bits;
};
template <typename Real>
struct Complex {
  Real real, imaginary;
};

template <typename T>
constexpr bool kIsComplex = std::is_same_v<T, Complex<float>> || std::is_same_v<T, Complex<double>>;

// The storage types by DType, from 1 on.
using StorageTypes = std::tuple<Bool8, uint8_t, uint16_t, uint32_t, uint64_t, int8_t, int16_t, int32_t,
                                int64_t, Half, Bfloat, float, double, Complex<float>, Complex<double>>;

// Calls function(T{}) with the storage type of a dtype. Inlined, so that the compiler makes a switch of it.
template <typename Function, size_t kIndex = 0>
[[gnu::always_inline]] inline decltype(auto) with_storage(DType dtype, Function&& function) {
  if constexpr (kIndex + 1 < std::tuple_size_v<StorageTypes>) {
    if (static_cast<size_t>(dtype) != kIndex + 1)
      return with_storage<Function, kIndex + 1>(dtype, std::forward<Function>(function));
  }
  return function(std::tuple_element_t<kIndex, StorageTypes>{});
}

// Calls function(From{}, To{}) with those of two.
template <typename Function>
[[gnu::always_inline]] inline decltype(auto) with_storages(DType from, DType to, Function&& function) {
  return with_storage(
      from, [&](auto source) __attribute__((always_inline)) {
        return with_storage(
            to, [&](auto target) __attribute__((always_inline)) { return function(source, target); });
      });
}

// An integer as an f64 that gives the same result in later roundings to 22 bits or fewer.
template <typename Int>
double widen_to_odd(Int value) {
  if constexpr (sizeof(Int) < 8) {
    return static_cast<double>(value);
  } else {
    const bool negative = value < 0;
    uint64_t magnitude = negative ? 0 - static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
    if (magnitude >> 53 != 0)
      magnitude = (magnitude & ~uint64_t{0xfff}) | ((magnitude & 0xfff) != 0 ? 0x1000u : 0u);
    const double wide = static_cast<double>(magnitude);
    return negative ? -wide : wide;
  }
}

template <typename Int, typename Float>
Int saturate_float(Float value) {
  using Limits = std::numeric_limits<Int>;
  if (std::isnan(value)) return 0;
  // The minimum is a power of two or 0, so exact in both types; so is the maximum plus one.
  if (value <= static_cast<Float>(Limits::min())) return Limits::min();
  const Float past = static_cast<Float>(uint64_t{1} << (Limits::digits - 1)) * Float{2};
  if (value >= past) return Limits::max();
  return static_cast<Int>(value);
}

template <typename To, typename From>
To saturate_integer(From value) {
  using Limits = std::numeric_limits<To>;
  if constexpr (std::is_signed_v<From>) {
    const int64_t min = static_cast<int64_t>(Limits::min());
    if (value < 0) return value < min ? Limits::min() : static_cast<To>(value);
  }
  const uint64_t wide = static_cast<uint64_t>(value);
  return wide > static_cast<uint64_t>(Limits::max()) ? Limits::max() : static_cast<To>(wide);
}

template <typename To, typename From>
To convert(From value);

// From a value held as an integer, f32 or f64.
template <typename To, typename From>
To convert_number(From value) {
  if constexpr (std::is_same_v<To, From>) {
    return value;
  } else if constexpr (std::is_same_v<To, Bool8>) {
    return Bool8{static_cast<uint8_t>(value != From{0})};
  } else if constexpr (std::is_same_v<To, Half> || std::is_same_v<To, Bfloat>) {
    float narrow;
    if constexpr (std::is_same_v<From, float>)
      narrow = value;
    else if constexpr (std::is_same_v<From, double>)
      narrow = narrow_to_odd(value);
    else
      narrow = narrow_to_odd(widen_to_odd(value));
    if constexpr (std::is_same_v<To, Half>)
      return Half{float_to_half(narrow)};
    else
      return Bfloat{float_to_bfloat(narrow)};
  } else if constexpr (kIsComplex<To>) {
    using Real = decltype(To::real);
    return To{convert<Real>(value), Real{0}};
  } else if constexpr (std::is_floating_point_v<To>) {
    return static_cast<To>(value);
  } else if constexpr (std::is_floating_point_v<From>) {
    return saturate_float<To>(value);
  } else {
    return saturate_integer<To>(value);
  }
}

template <typename To, typename From>
To convert(From value) {
  if constexpr (std::is_same_v<From, Bool8>) {
    return convert_number<To>(static_cast<uint8_t>(value.byte != 0));
  } else if constexpr (std::is_same_v<From, To>) {
    return value;
  } else if constexpr (std::is_same_v<From, Half>) {
    return convert_number<To>(half_to_float(value.bits));
  } else if constexpr (std::is_same_v<From, Bfloat>) {
    return convert_number<To>(bfloat_to_float(value.bits));
  } else if constexpr (kIsComplex<From>) {
    static_assert(kIsComplex<To>, "complex to real is not supported");
    using Real = decltype(To::real);
    return To{convert<Real>(value.real), convert<Real>(value.imaginary)};
  } else {
    return convert_number<To>(value);
  }
}

// --- Loops: inlined into the plain kernels, and into the vector kernels for counts below one vector.

template <typename From, typename To>
[[gnu::always_inline]] inline void cast_each(const std::byte* from, std::byte* to, int64_t count) {
  constexpr int64_t kFrom = sizeof(From), kTo = sizeof(To);
  for (int64_t i = 0; i < count; ++i) {
    const To y = convert<To>(load_native<From>(from + i * kFrom));
    std::memcpy(to + i * kTo, &y, sizeof y);
  }
}

template <typename From, typename To>
[[gnu::always_inline]] inline void affine_each(const std::byte* from, std::byte* to, int64_t count,
                                               const Affine& affine) {
  constexpr int64_t kFrom = sizeof(From), kTo = sizeof(To);
  int64_t channel = 0;
  for (int64_t i = 0; i < count; ++i) {
    const float x = convert<float>(load_native<From>(from + i * kFrom));
    const To y = convert<To>(x * affine.a[channel] + affine.b[channel]);
    std::memcpy(to + i * kTo, &y, sizeof y);
    if (++channel == affine.period) channel = 0;
  }
}

}  // namespace dataline
