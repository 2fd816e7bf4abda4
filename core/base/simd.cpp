// CPU feature detection without libgcc's __cpu_model: that is a mutable global filled by a constructor, and the library
// has neither.
// SPDX-License-Identifier: Apache-2.0
#include "core/base/simd.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace dataline {

#if defined(__x86_64__)
namespace {

constexpr bool has(uint32_t word, uint32_t bits) { return (word & bits) == bits; }

// XCR0, the register sets that the operating system saves. Only valid when CPUID reports OSXSAVE.
uint32_t saved_state() {
  uint32_t low;
  uint32_t high;
  __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return low;
}

constexpr uint32_t kSavesYmm = 0x06;  // XCR0: SSE and AVX state
constexpr uint32_t kSavesZmm = 0xe6;  // and opmask, ZMM0-15 high halves, ZMM16-31

}  // namespace

SimdTarget best_simd_target() {
  uint32_t a;
  uint32_t b;
  uint32_t c;
  uint32_t d;
  __cpuid(1, a, b, c, d);
  // These are the complete feature sets that Highway 1.0 compiles each target with.
  if (!has(c, bit_SSE3 | bit_SSSE3 | bit_SSE4_1 | bit_SSE4_2 | bit_PCLMUL | bit_AES))
    return SimdTarget::kPlain;
  if (!has(c, bit_OSXSAVE | bit_AVX | bit_FMA | bit_F16C)) return SimdTarget::kSse4;
  const uint32_t saved = saved_state();
  if (!has(saved, kSavesYmm)) return SimdTarget::kSse4;
  __cpuid(0, a, b, c, d);
  if (a < 7) return SimdTarget::kSse4;
  __cpuid_count(7, 0, a, b, c, d);
  if (!has(b, bit_AVX2 | bit_BMI | bit_BMI2)) return SimdTarget::kSse4;
  if (!has(saved, kSavesZmm)) return SimdTarget::kAvx2;
  if (!has(b, bit_AVX512F | bit_AVX512VL | bit_AVX512DQ | bit_AVX512BW)) return SimdTarget::kAvx2;
  return SimdTarget::kAvx3;
}
#elif defined(__aarch64__)
SimdTarget best_simd_target() { return SimdTarget::kNeon; }  // part of the base architecture
#else
SimdTarget best_simd_target() { return SimdTarget::kPlain; }
#endif

const char* simd_target_name(SimdTarget target) {
  constexpr const char* kX86Names[] = {"plain", "SSE4", "AVX2", "AVX3"};
  return target == SimdTarget::kNeon ? "NEON" : kX86Names[static_cast<int32_t>(target)];
}

}  // namespace dataline
