// Vectorized casts and affine maps for the stored types common in training data, with the same bits as the plain loops. All
// arithmetic is f32 with product and sum rounded separately.
//
// Remainders: the last vector ends at the last element and so repeats some elements; counts below one vector use the loops
// of convert.h. Nothing beyond the source is read.
// SPDX-License-Identifier: Apache-2.0
#include <type_traits>

#include "core/base/simd.h"
#include "core/transform/elements/convert.h"
#include "core/transform/elements/kernels.h"

#define HWY_TARGET_INCLUDE "core/transform/elements/element_simd.cpp"
#include "core/base/simd_targets.inc"

DATALINE_SIMD_BEGIN();
#if DATALINE_SIMD_LANES
using DF = hn::ScalableTag<float>;
using DU = hn::RebindToUnsigned<DF>;
using DI = hn::RebindToSigned<DF>;
using VF = hn::Vec<DF>;
constexpr int64_t kLanes = HWY_LANES(float);
static_assert(kLanes <= kPatternLanes);

// Hardware conversions to f16 round to nearest even; Highway's emulation on SSE4 truncates.
constexpr bool kHasHalf = HWY_TARGET != HWY_SSE4;

// kLanes elements of T.
template <typename T>
HWY_INLINE auto load(const std::byte* from) {
  return hn::LoadU(hn::Rebind<T, DF>(), reinterpret_cast<const T*>(from));
}

template <typename Int>  // of 8 or 16 bits
HWY_INLINE VF load_float(Int, const std::byte* from) {
  return hn::ConvertTo(DF(), hn::PromoteTo(DI(), load<Int>(from)));
}
HWY_INLINE VF load_float(Bool8, const std::byte* from) {
  const hn::Rebind<uint8_t, DF> d8;
  return hn::ConvertTo(DF(), hn::PromoteTo(DI(), hn::Min(load<uint8_t>(from), hn::Set(d8, 1))));
}
HWY_INLINE VF load_float(float, const std::byte* from) { return load<float>(from); }
HWY_INLINE VF load_float(int32_t, const std::byte* from) { return hn::ConvertTo(DF(), load<int32_t>(from)); }
HWY_INLINE VF load_float(Bfloat, const std::byte* from) {
  return hn::BitCast(DF(), hn::ShiftLeft<16>(hn::PromoteTo(DU(), load<uint16_t>(from))));
}
HWY_INLINE VF load_float(Half, const std::byte* from) {
  return hn::PromoteTo(DF(), hn::BitCast(hn::Rebind<hwy::float16_t, DF>(), load<uint16_t>(from)));
}

// kNan: whether value may be one.
template <bool kNan>
HWY_INLINE void store_float(float, VF value, std::byte* to) {
  hn::StoreU(value, DF(), reinterpret_cast<float*>(to));
}
template <bool kNan>
HWY_INLINE void store_float(Half, VF value, std::byte* to) {
  const hn::Rebind<uint16_t, DF> d16;
  hn::StoreU(hn::BitCast(d16, hn::DemoteTo(hn::Rebind<hwy::float16_t, DF>(), value)), d16,
             reinterpret_cast<uint16_t*>(to));
}
template <bool kNan>
HWY_INLINE void store_float(Bfloat, VF value, std::byte* to) {
  const hn::Rebind<uint16_t, DF> d16;
  const DU du;
  const auto bits = hn::BitCast(du, value);
  const auto high = hn::ShiftRight<16>(bits);
  const auto odd = hn::And(high, hn::Set(du, 1));
  auto out = hn::ShiftRight<16>(hn::Add(bits, hn::Add(odd, hn::Set(du, 0x7fff))));
  if constexpr (kNan) {  // by bits: Highway's Ne(x, x) is false for a NaN on some targets
    const auto magnitude = hn::BitCast(DI(), hn::And(bits, hn::Set(du, 0x7fffffff)));
    const auto nan = hn::RebindMask(du, hn::Gt(magnitude, hn::Set(DI(), 0x7f800000)));
    out = hn::IfThenElse(nan, hn::Or(high, hn::Set(du, 0x40)), out);
  }
  hn::StoreU(hn::DemoteTo(d16, hn::BitCast(DI(), out)), d16, reinterpret_cast<uint16_t*>(to));
}

template <typename From, typename To>
HWY_INLINE void affine_one(const std::byte* from, std::byte* to, int64_t i, VF a, VF b) {
  const VF x = load_float(From{}, from + i * static_cast<int64_t>(sizeof(From)));
  // Finite a and b make no NaN of an integer.
  store_float<!std::is_integral_v<From>>(To{}, hn::Add(hn::Mul(x, a), b),
                                         to + i * static_cast<int64_t>(sizeof(To)));
}

template <typename From, typename To>
void affine_lanes(const std::byte* from, std::byte* to, int64_t count, const Affine& affine) {
  const DF d;
  if (count < kLanes) return affine_each<From, To>(from, to, count, affine);
  const float* const all_a = affine.a;
  const float* const all_b = affine.b;
  const int64_t period = affine.period;
  int64_t i = 0;
  if (period == 1) {
    const VF a = hn::Set(d, *all_a);
    const VF b = hn::Set(d, *all_b);
    for (; i + 4 * kLanes <= count; i += 4 * kLanes) {
      affine_one<From, To>(from, to, i, a, b);
      affine_one<From, To>(from, to, i + kLanes, a, b);
      affine_one<From, To>(from, to, i + 2 * kLanes, a, b);
      affine_one<From, To>(from, to, i + 3 * kLanes, a, b);
    }
    for (; i + kLanes <= count; i += kLanes) affine_one<From, To>(from, to, i, a, b);
    if (i < count) affine_one<From, To>(from, to, count - kLanes, a, b);
    return;
  }
  const int64_t step = kLanes % period;
  int64_t channel = 0;
  for (; i + kLanes <= count; i += kLanes) {
    affine_one<From, To>(from, to, i, hn::LoadU(d, all_a + channel), hn::LoadU(d, all_b + channel));
    channel += step;
    if (channel >= period) channel -= period;
  }
  if (i == count) return;
  channel = (count - kLanes) % period;
  affine_one<From, To>(from, to, count - kLanes, hn::LoadU(d, all_a + channel),
                       hn::LoadU(d, all_b + channel));
}

// One(from, to) does kWidth elements.
template <typename From, typename To, int64_t kWidth, typename One>
HWY_INLINE void cast_all(const std::byte* from, std::byte* to, int64_t count, One one) {
  if (count < kWidth) return cast_each<From, To>(from, to, count);
  const auto at = [&](int64_t i) HWY_ATTR {
    one(from + i * static_cast<int64_t>(sizeof(From)), to + i * static_cast<int64_t>(sizeof(To)));
  };
  int64_t i = 0;
  for (; i + 4 * kWidth <= count; i += 4 * kWidth) {
    at(i);
    at(i + kWidth);
    at(i + 2 * kWidth);
    at(i + 3 * kWidth);
  }
  for (; i + kWidth <= count; i += kWidth) at(i);
  if (i < count) at(count - kWidth);
}

// Through f32: only where f32 holds every value of From, or To is f32 itself.
template <typename From, typename To>
void cast_by_float(const std::byte* from, std::byte* to, int64_t count, const Affine&) {
  cast_all<From, To, kLanes>(from, to, count, [](const std::byte* source, std::byte* target) HWY_ATTR {
    store_float<!std::is_integral_v<From>>(To{}, load_float(From{}, source), target);
  });
}

// Integers to wider integers of the same sign, or unsigned to wider signed; f32 to f64.
template <typename From, typename To>
void cast_widen(const std::byte* from, std::byte* to, int64_t count, const Affine&) {
  constexpr int64_t kWidth = HWY_LANES(To);
  cast_all<From, To, kWidth>(from, to, count, [](const std::byte* source, std::byte* target) HWY_ATTR {
    const hn::ScalableTag<To> d;
    const auto narrow = hn::LoadU(hn::Rebind<From, decltype(d)>(), reinterpret_cast<const From*>(source));
    if constexpr (sizeof(To) == 8 && sizeof(From) < 4) {
      using Middle = std::conditional_t<std::is_signed_v<From>, int32_t, uint32_t>;
      using Wide = std::conditional_t<std::is_signed_v<From>, int64_t, uint64_t>;
      const hn::Rebind<Wide, decltype(d)> wide;
      const auto middle = hn::PromoteTo(hn::Rebind<Middle, decltype(d)>(), narrow);
      hn::StoreU(hn::BitCast(d, hn::PromoteTo(wide, middle)), d, reinterpret_cast<To*>(target));
    } else if constexpr (std::is_signed_v<From> == std::is_signed_v<To>) {
      hn::StoreU(hn::PromoteTo(d, narrow), d, reinterpret_cast<To*>(target));
    } else {
      const hn::RebindToUnsigned<decltype(d)> du;
      hn::StoreU(hn::BitCast(d, hn::PromoteTo(du, narrow)), d, reinterpret_cast<To*>(target));
    }
  });
}

void cast_f64_f32(const std::byte* from, std::byte* to, int64_t count, const Affine&) {
  constexpr int64_t kWidth = HWY_LANES(double);
  cast_all<double, float, kWidth>(from, to, count, [](const std::byte* source, std::byte* target) HWY_ATTR {
    const hn::ScalableTag<double> d;
    const hn::Rebind<float, decltype(d)> df;
    hn::StoreU(hn::DemoteTo(df, hn::LoadU(d, reinterpret_cast<const double*>(source))), df,
               reinterpret_cast<float*>(target));
  });
}

// Stored bytes to 0 or 1.
void cast_bools(const std::byte* from, std::byte* to, int64_t count, const Affine&) {
  constexpr int64_t kWidth = HWY_LANES(uint8_t);
  cast_all<Bool8, Bool8, kWidth>(from, to, count, [](const std::byte* source, std::byte* target) HWY_ATTR {
    const hn::ScalableTag<uint8_t> d;
    const auto bytes = hn::LoadU(d, reinterpret_cast<const uint8_t*>(source));
    hn::StoreU(hn::Min(bytes, hn::Set(d, 1)), d, reinterpret_cast<uint8_t*>(target));
  });
}

template <typename T, typename... Listed>
constexpr bool kOneOf = (std::is_same_v<T, Listed> || ...);
template <typename T>
constexpr bool kIsHalf = kHasHalf&& std::is_same_v<T, Half>;
template <typename T>
constexpr bool kStored = kOneOf<T, float, Bfloat> || kIsHalf<T>;  // by store_float
template <typename T>
constexpr bool kHeldByFloat = kOneOf<T, Bool8, uint8_t, int8_t, uint16_t, int16_t> || kStored<T>;
template <typename From, typename To>
constexpr bool kWidens = std::is_integral_v<From>&& std::is_integral_v<To> && sizeof(From) < sizeof(To) &&
                         (std::is_unsigned_v<From> || std::is_signed_v<To>);

ElementKernel cast_of(DType from, DType to) {
  const ElementKernel lanes =
      with_storages(from, to, []<typename From, typename To>(From, To) -> ElementKernel {
        constexpr bool kSame = std::is_same_v<From, To>;
        if constexpr (kSame && std::is_same_v<To, Bool8>)
          return cast_bools;
        else if constexpr (kWidens<From, To> || (std::is_same_v<From, float> && std::is_same_v<To, double>))
          return cast_widen<From, To>;
        else if constexpr (std::is_same_v<From, double> && std::is_same_v<To, float>)
          return cast_f64_f32;
        else if constexpr (!kSame && kHeldByFloat<From> && kStored<To>)
          return cast_by_float<From, To>;
        else if constexpr (std::is_same_v<From, int32_t> && std::is_same_v<To, float>)
          return cast_by_float<From, To>;
        else
          return nullptr;
      });
  return lanes != nullptr ? lanes : plain_cast_kernel(from, to);
}

ElementKernel affine_of(DType from, DType to) {
  const ElementKernel lanes =
      with_storages(from, to, []<typename From, typename To>(From, To) -> ElementKernel {
        if constexpr ((kOneOf<From, uint8_t, uint16_t> || kStored<From>)&&kStored<To>)
          return affine_lanes<From, To>;
        else
          return nullptr;
      });
  return lanes != nullptr ? lanes : plain_affine_kernel(from, to);
}
#endif
DATALINE_SIMD_END();

#if DATALINE_SIMD_ONCE
namespace dataline {
using Finder = decltype(&plain_cast_kernel);

ElementKernel cast_kernel(SimdTarget target, DType from, DType to) {
  return DATALINE_SIMD_PICK(target, Finder, cast_of, &plain_cast_kernel)(from, to);
}

ElementKernel affine_kernel(SimdTarget target, DType from, DType to) {
  return DATALINE_SIMD_PICK(target, Finder, affine_of, &plain_affine_kernel)(from, to);
}
}  // namespace dataline
#endif
