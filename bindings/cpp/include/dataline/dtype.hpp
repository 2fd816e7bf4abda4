// C++ types and their dtypes.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <dataline/config.hpp>

#include <complex>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace dataline {
inline namespace DATALINE_CPP_ABI {

// The bits of 16-bit floats, for hosts without such a type.
struct Half {
  uint16_t bits;
};
struct BFloat16 {
  uint16_t bits;
};

// DtypeOf<T>::value is the DL_DTYPE_* of T, or 0 if T has none. Specialise it for your own types:
//   template <> struct dataline::DtypeOf<Eigen::half> { static constexpr int32_t value = DL_DTYPE_F16; };
template <typename T, typename = void>
struct DtypeOf {
  static constexpr int32_t value = 0;
};

// Integers map by size and sign, so both long and long long are i64 where they have 64 bits. Character types have
// no dtype.
template <typename T>
struct DtypeOf<
    T, std::enable_if_t<std::is_integral_v<T> && !std::is_same_v<T, bool> && !std::is_same_v<T, wchar_t> &&
                        !std::is_same_v<T, char> && !std::is_same_v<T, char16_t> &&
                        !std::is_same_v<T, char32_t> && sizeof(T) <= 8>> {
  static constexpr int32_t value = std::is_unsigned_v<T> ? (sizeof(T) == 1   ? DL_DTYPE_U8
                                                            : sizeof(T) == 2 ? DL_DTYPE_U16
                                                            : sizeof(T) == 4 ? DL_DTYPE_U32
                                                                             : DL_DTYPE_U64)
                                                         : (sizeof(T) == 1   ? DL_DTYPE_I8
                                                            : sizeof(T) == 2 ? DL_DTYPE_I16
                                                            : sizeof(T) == 4 ? DL_DTYPE_I32
                                                                             : DL_DTYPE_I64);
};
template <>
struct DtypeOf<bool> {
  static constexpr int32_t value = DL_DTYPE_BOOL;
};
template <>
struct DtypeOf<Half> {
  static constexpr int32_t value = DL_DTYPE_F16;
};
template <>
struct DtypeOf<BFloat16> {
  static constexpr int32_t value = DL_DTYPE_BF16;
};
template <>
struct DtypeOf<float> {
  static constexpr int32_t value = DL_DTYPE_F32;
};
template <>
struct DtypeOf<double> {
  static constexpr int32_t value = DL_DTYPE_F64;
};
template <>
struct DtypeOf<std::complex<float>> {
  static constexpr int32_t value = DL_DTYPE_C64;
};
template <>
struct DtypeOf<std::complex<double>> {
  static constexpr int32_t value = DL_DTYPE_C128;
};

// dtype_of<float> is DL_DTYPE_F32. A type without a dtype does not compile.
template <typename T>
constexpr int32_t dtype_of() noexcept {
  constexpr int32_t kDtype = DtypeOf<std::remove_cv_t<T>>::value;
  static_assert(kDtype != 0, "this type has no dtype: specialise dataline::DtypeOf");
  return kDtype;
}

static_assert(sizeof(bool) == 1, "a dtype of one byte");

}  // namespace DATALINE_CPP_ABI
}  // namespace dataline
