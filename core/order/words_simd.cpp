// Blocks of splitmix64 words in vector lanes, for Fisher-Yates tables. The comments on its parts hold for every vector file
// (core/base/simd.h).
// SPDX-License-Identifier: Apache-2.0
// Ordinary headers first: they have their own guards. simd.h, which is among theirs, says which targets are wanted and
// must come before Highway.
#include "core/base/random.h"
#include "core/order/orders.h"

#define HWY_TARGET_INCLUDE "core/order/words_simd.cpp"  // this file: included again for each target
#include "core/base/simd_targets.inc"

DATALINE_SIMD_BEGIN();
#if DATALINE_SIMD_LANES  // not for the one-lane target: the plain path serves it
namespace {              // HWY_NAMESPACE is shared by all rooms: keep names local to the file
using D64 = hn::ScalableTag<uint64_t>;
using V64 = hn::Vec<D64>;

// mix64 in lanes.
HWY_INLINE V64 mix(V64 x) {
  const D64 d;
  x = hn::Xor(x, hn::ShiftRight<30>(x));
  x = hn::Mul(x, hn::Set(d, 0xbf58476d1ce4e5b9u));
  x = hn::Xor(x, hn::ShiftRight<27>(x));
  x = hn::Mul(x, hn::Set(d, 0x94d049bb133111ebu));
  return hn::Xor(x, hn::ShiftRight<31>(x));
}

void words(uint64_t key, int64_t first, int64_t count, uint64_t* out) {
  constexpr int64_t kLanes = HWY_LANES(uint64_t);
  const D64 d;
  HWY_ALIGN uint64_t starts[kLanes];
  for (int64_t i = 0; i < kLanes; ++i) starts[i] = key + static_cast<uint64_t>(first + i + 1) * kGolden64;
  V64 counter = hn::Load(d, starts);
  const V64 step = hn::Set(d, static_cast<uint64_t>(kLanes) * kGolden64);
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    hn::StoreU(mix(counter), d, out + i);
    counter = hn::Add(counter, step);
  }
  for (; i < count; ++i) out[i] = mix64(key + static_cast<uint64_t>(first + i + 1) * kGolden64);
}
}  // namespace
#endif
DATALINE_SIMD_END();

#if DATALINE_SIMD_ONCE  // once, after the last target
namespace dataline {
namespace {
void words_plain(uint64_t key, int64_t first, int64_t count, uint64_t* out) {
  for (int64_t i = 0; i < count; ++i) out[i] = mix64(key + static_cast<uint64_t>(first + i + 1) * kGolden64);
}
}  // namespace

WordsFunction words_function(SimdTarget target) {
  return DATALINE_SIMD_PICK(target, WordsFunction, words, &words_plain);
}
}  // namespace dataline
#endif
