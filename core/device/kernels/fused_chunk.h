// A thread's unit of work: elements that fill 16 bytes of the target, read in the widest words that their alignment
// allows, converted, and written in one store. Compiled by nvcc and by the host compiler, like fused_rows.h.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/device/kernels/fused_element.h"
#include "core/device/kernels/kernel_params.h"

namespace dataline {
namespace kernel {

#if defined(__CUDACC__)
#define DL_UNROLL _Pragma("unroll")
#else
#define DL_UNROLL
#endif

// Device memory is accessed by load() and store() alone, whose addresses a device wants to be multiples of the size. The
// fake driver's twins define this to check them.
#if !defined(DL_KERNEL_ACCESS)
#define DL_KERNEL_ACCESS(at, bytes)
#endif

constexpr int kChunkBytes = 16;

DL_BOTH uint32_t divide(uint32_t dividend, const KernelDivisor& by) {
#if defined(__CUDA_ARCH__)
  const uint32_t high = __umulhi(dividend, by.magic);
#else
  const auto high = static_cast<uint32_t>((static_cast<uint64_t>(dividend) * by.magic) >> 32);
#endif
  return (high + dividend) >> by.shift;
}

// ---- memory

template <typename T>
DL_BOTH T load(const unsigned char* from) {
#if defined(__CUDA_ARCH__)
  if constexpr (sizeof(T) == 1) {
    return same_bits<T>(__ldg(from));
  } else if constexpr (sizeof(T) == 2) {
    return same_bits<T>(__ldg(reinterpret_cast<const unsigned short*>(from)));
  } else if constexpr (sizeof(T) == 4) {
    return same_bits<T>(__ldg(reinterpret_cast<const unsigned int*>(from)));
  } else if constexpr (sizeof(T) == 8) {
    return same_bits<T>(__ldg(reinterpret_cast<const uint2*>(from)));
  } else {
    return same_bits<T>(__ldg(reinterpret_cast<const uint4*>(from)));
  }
#else
  DL_KERNEL_ACCESS(from, sizeof(T));
  T value;
  memcpy(&value, from, sizeof value);
  return value;
#endif
}

template <typename T>
DL_BOTH void store(unsigned char* to, T value) {
#if defined(__CUDA_ARCH__)
  if constexpr (sizeof(T) == 16) {
    *reinterpret_cast<uint4*>(to) = same_bits<uint4>(value);
  } else {
    *reinterpret_cast<T*>(to) = value;
  }
#else
  DL_KERNEL_ACCESS(to, sizeof(T));
  memcpy(to, &value, sizeof value);
#endif
}

DL_BOTH bool aligned(const unsigned char* at, uint32_t bytes) {
  return (reinterpret_cast<uintptr_t>(at) & (bytes - 1)) == 0;
}

// Loads kCount contiguous elements at any alignment, in the widest words that it allows. Small types that begin inside a
// word are read as whole words, each with at least one requested byte, and shifted. Allocations are therefore rounded up
// to whole words.
template <typename T, int kCount>
DL_BOTH void load_run(const unsigned char* from, T (&out)[kCount]) {
  constexpr uint32_t kBytes = sizeof(T) * kCount;
  constexpr uint32_t kWord = kBytes % 16 == 0 ? 16 : kBytes % 8 == 0 ? 8 : 4;
  if constexpr (kBytes % 4 == 0 && sizeof(T) < kWord) {
    if (kWord > 4 && aligned(from, kWord)) {
      DL_UNROLL
      for (uint32_t at = 0; at < kBytes; at += kWord) {
        const auto word = load<Raw<kWord>>(from + at);
        memcpy(reinterpret_cast<unsigned char*>(out) + at, &word, kWord);
      }
      return;
    }
  }
  if constexpr (kBytes % 4 == 0 && sizeof(T) < 4) {
    const auto within = static_cast<uint32_t>(reinterpret_cast<uintptr_t>(from) & 3);
    const unsigned char* const base = from - within;
    uint32_t low = load<uint32_t>(base);
    DL_UNROLL
    for (uint32_t at = 0; at < kBytes; at += 4) {
      const bool more = within != 0 || at + 4 < kBytes;
      const uint32_t high = more ? load<uint32_t>(base + at + 4) : 0;
      const auto word = static_cast<uint32_t>((static_cast<uint64_t>(high) << 32 | low) >> (8 * within));
      memcpy(reinterpret_cast<unsigned char*>(out) + at, &word, 4);
      low = high;
    }
  } else {
    DL_UNROLL
    for (int i = 0; i < kCount; ++i) out[i] = load<T>(from + i * sizeof(T));
  }
}

// ---- elements of a chunk

// Applies the casts and affine maps; `channel(j)` is the channel of element j, kUniform: the same for all.
template <bool kUniform, typename From, typename To, int kCount, typename Channel>
DL_BOTH void finish(const KernelParams& p, const float* a, const float* b, const From (&in)[kCount],
                    To (&out)[kCount], Channel channel) {
  if constexpr (kIsRaw<From>) {
    DL_UNROLL
    for (int j = 0; j < kCount; ++j) out[j] = in[j];
  } else if (p.affines == 0) {
    DL_UNROLL
    for (int j = 0; j < kCount; ++j) out[j] = cast<To>(in[j]);
  } else {
    float x[kCount];
    DL_UNROLL
    for (int j = 0; j < kCount; ++j) x[j] = to_float(in[j]);
    for (uint32_t k = 0; k < p.affines; ++k) {
      const KernelAffine map = p.affine[k];
      float scale = a[map.first + map.by_channel * channel(0)],
            bias = b[map.first + map.by_channel * channel(0)];
      DL_UNROLL
      for (int j = 0; j < kCount; ++j) {
        if (!kUniform && j > 0) {
          scale = a[map.first + map.by_channel * channel(j)];
          bias = b[map.first + map.by_channel * channel(j)];
        }
        x[j] = affine<From>(x[j], scale, bias);
      }
    }
    DL_UNROLL
    for (int j = 0; j < kCount; ++j) out[j] = from_float<To>(x[j]);
  }
}

template <typename To, int kCount>
DL_BOTH void store_chunk(unsigned char* to, const To (&out)[kCount], uint32_t count, bool vector) {
  if (sizeof(out) == kChunkBytes && vector && count == kCount) {
    Raw<kChunkBytes> chunk;
    memcpy(&chunk, out, kChunkBytes);
    store(to, chunk);
    return;
  }
  DL_UNROLL
  for (uint32_t j = 0; j < kCount; ++j) {
    if (j < count) store(to + j * sizeof(To), out[j]);
  }
}

}  // namespace kernel
}  // namespace dataline
