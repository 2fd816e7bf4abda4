// The kernels: fused_rows.h compiled for a device. One argument, KernelParams; any grid of blocks of kBlockThreads.
// SPDX-License-Identifier: Apache-2.0
#include "core/device/kernels/fused_rows.h"

namespace {

using namespace dataline;
using namespace dataline::kernel;

// Neighbouring threads may read entries of different channels. Shared memory serves these in parallel, the constant bank
// of the parameters would serialize them.
struct Tables {
  float a[kKernelEntries];
  float b[kKernelEntries];
};

__device__ __forceinline__ void fetch(const KernelParams& p, Tables& tables) {
  if (p.affines == 0) return;
  const KernelAffine last = p.affine[p.affines - 1];
  const uint32_t entries = last.first + (last.by_channel != 0 ? p.channels : 1);
  for (uint32_t i = threadIdx.x; i < entries; i += blockDim.x) {
    tables.a[i] = p.a[i];
    tables.b[i] = p.b[i];
  }
  __syncthreads();
}

}  // namespace

#define DL_KERNEL(body, from, to)                                                                         \
  extern "C" __global__ void __launch_bounds__(256)                                                       \
      dl_##body##_##from##_##to(const __grid_constant__ KernelParams p) {                                 \
    __shared__ Tables tables;                                                                             \
    fetch(p, tables);                                                                                     \
    body<from, to>(p, tables.a, tables.b, blockIdx.x * blockDim.x + threadIdx.x, gridDim.x * blockDim.x); \
  }
#define DL_KERNELS(from, to) \
  DL_KERNEL(elements, from, to) DL_KERNEL(planes, from, to) DL_KERNEL(pixels, from, to)
DL_KERNEL_TYPES(DL_KERNELS)
