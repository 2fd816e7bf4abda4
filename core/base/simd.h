// The choice of SIMD target, and the pattern for compiling one function per target.
//
// Highway compiles a file once per target (foreach_target.h). Its own dispatch (HWY_EXPORT,
// HWY_DYNAMIC_DISPATCH) keeps the choice in a mutable global of libhwy; we keep it in the object that uses
// it: call best_simd_target() once at create and pick a plain function pointer.
//
// core/order/words_simd.cpp is the shortest such file; its comments give the reason for each part.
//
// Functions that vector code calls must be in the same file, or constexpr/inline and trivially small: the linker may
// keep the copy of a template that was instantiated here for AVX-512, for everybody.
// gcc with Highway 1.0: no vectors as members of structs (their implicit constructors get the wrong target on
// arm); Compress and CompressStore copy a table to the stack at each call (SSE4, AVX2), and CompressStore is
// slow with AVX-512 on Zen 4: core/order/feistel_simd.cpp has a workaround.
// Results must not depend on the target: tests run every target that runs here against the plain path.
//
// Threads: immutable.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

// The targets Highway may compile; said by what is wanted, since releases after 1.0 know more of them (SSE2, several of AVX-512,
// NEON without AES) that nothing here would pick. Machines below SSE4 run the plain path; SVE is left out (vector length
// unknown at compile time, gain over NEON unmeasured). Highway reads these when its headers are included.
#ifndef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS (~(HWY_SSE4 | HWY_AVX2 | HWY_AVX3 | HWY_NEON | HWY_SCALAR | HWY_EMU128))
#endif
// Highway's debug assertions call hwy::Abort of libhwy, which we do not link (and the library never aborts).
#ifndef HWY_IS_DEBUG_BUILD
#define HWY_IS_DEBUG_BUILD 0
#endif

// A vector file is core/base/simd_targets.inc, then BEGIN, `#if DATALINE_SIMD_LANES` with its vector code, END, and `#if DATALINE_SIMD_ONCE`
// with the rest. What is between BEGIN and END is compiled for each target, in a namespace of the target that all rooms share: names that are
// local to a file are in an unnamed namespace inside it. `hn`: Highway's operations for the target. LANES: the target has real vectors;
// HWY_SCALAR and HWY_EMU128 are Highway's fallbacks where the compiler's baseline is below SSE4. Without Highway only the rest is compiled.
#if DATALINE_HAS_HIGHWAY
#define DATALINE_SIMD_BEGIN() \
  HWY_BEFORE_NAMESPACE();     \
  namespace dataline {        \
  namespace HWY_NAMESPACE {   \
  namespace hn = hwy::HWY_NAMESPACE /* NOLINT(misc-unused-alias-decls): without lanes nothing uses it */
#define DATALINE_SIMD_LANES (HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128)
#define DATALINE_SIMD_END() \
  }                         \
  }                         \
  HWY_AFTER_NAMESPACE()
#define DATALINE_SIMD_ONCE HWY_ONCE
#else
#define DATALINE_SIMD_BEGIN() static_assert(true)
#define DATALINE_SIMD_LANES 0
#define DATALINE_SIMD_END() static_assert(true)
#define DATALINE_SIMD_ONCE 1
#endif

// For short loops over an array of vectors: gcc at -O2 does not unroll them and keeps the vectors in memory.
#define DATALINE_UNROLL _Pragma("GCC unroll 8")

namespace dataline {

// In order of preference within one architecture: a machine that supports one supports all before it.
enum class SimdTarget : int32_t {
  kPlain = 0,  // no vector code: always runs
  kSse4 = 1,   // SSE4.2, AES, PCLMUL
  kAvx2 = 2,   // and BMI2, FMA, F16C
  kAvx3 = 3,   // AVX-512 F, VL, DQ, BW
  kNeon = 16,
};

// The best target this machine supports. Runs CPUID at each call (tens of microseconds in a virtual machine): call it at
// create, never per batch.
SimdTarget best_simd_target();

const char* simd_target_name(SimdTarget target);  // "AVX2"

// The variant for `target`, else the next lower one that was compiled, else `plain`.
template <typename Function>
constexpr Function simd_pick(SimdTarget target, Function avx3, Function avx2, Function sse4, Function neon,
                             Function plain) {
  if (target == SimdTarget::kNeon) return neon != nullptr ? neon : plain;
  if (target >= SimdTarget::kAvx3 && avx3 != nullptr) return avx3;
  if (target >= SimdTarget::kAvx2 && avx2 != nullptr) return avx2;
  if (target >= SimdTarget::kSse4 && sse4 != nullptr) return sse4;
  return plain;
}

}  // namespace dataline

// Use in the namespace that encloses HWY_NAMESPACE, under DATALINE_SIMD_ONCE. Function: the pointer type.
#if DATALINE_HAS_HIGHWAY
#define DATALINE_SIMD_PICK(target, Function, name, plain)                               \
  ::dataline::simd_pick<Function>(target, HWY_CHOOSE_AVX3(name), HWY_CHOOSE_AVX2(name), \
                                  HWY_CHOOSE_SSE4(name), HWY_CHOOSE_NEON(name), plain)
#else
#define DATALINE_SIMD_PICK(target, Function, name, plain) \
  ::dataline::simd_pick<Function>(target, nullptr, nullptr, nullptr, nullptr, plain)
#endif
