// SPDX-License-Identifier: Apache-2.0
#include "tests/support/fake_cuda/kernel_twins.h"

#include <algorithm>
#include <cstring>

#include "tests/support/fake_cuda/twins.h"

// Each access of the kernels' bodies is looked at before it is made.
#define DL_KERNEL_ACCESS(at, bytes) fake_cuda::check_aligned(at, bytes)
#include "core/device/kernels/fused_rows.h"

namespace fake_cuda {
namespace {

using dataline::KernelParams;
using dataline::KernelView;
using namespace dataline::kernel;

using Body = void (*)(const KernelParams&, const float*, const float*, uint32_t, uint32_t);

template <typename T>
const T* read(const T* from, uint64_t count) {
  const void* memory = device_read(reinterpret_cast<uint64_t>(from), count * sizeof(T));
  check_aligned(memory, alignof(T));
  return static_cast<const T*>(memory);
}

// The rows that the launch may touch, and no byte more.
const unsigned char* read_source(const KernelParams& p, uint64_t row_bytes) {
  int64_t first = 0, last = int64_t{p.rows} - 1;
  if (p.index != nullptr) {
    first = *std::min_element(p.index, p.index + p.rows);
    last = *std::max_element(p.index, p.index + p.rows);
  }
  const unsigned char* const begin = p.source + first * p.source_stride;
  const uint64_t bytes = static_cast<uint64_t>((last - first) * p.source_stride) + row_bytes;
  return read(begin, bytes) - first * p.source_stride;
}

template <Body kBody, typename From, typename To>
void run(void** parameters, Dimensions grid, Dimensions block) {
  KernelParams p;
  std::memcpy(&p, parameters[0], sizeof p);
  if (p.rows == 0) return;  // what loads a kernel
  if (p.index != nullptr) p.index = read(p.index, p.rows);
  if (p.geometry != nullptr) p.geometry = read(p.geometry, p.rows);
  p.source = read_source(p, p.in_elements * sizeof(From));
  const uint64_t out_bytes = static_cast<uint64_t>(p.rows) * p.row_elements * sizeof(To);
  p.target = reinterpret_cast<unsigned char*>(device_write(reinterpret_cast<uint64_t>(p.target), out_bytes));
  const uint32_t threads = grid.x * block.x;
  for (uint32_t thread = 0; thread < threads; ++thread) kBody(p, p.a, p.b, thread, threads);
}

}  // namespace

#define FAKE_CUDA_TWIN(body, from, to) \
  {"dl_" #body "_" #from "_" #to, {sizeof(KernelParams)}, run<body<from, to>, from, to>},
#define FAKE_CUDA_TWINS(from, to) \
  FAKE_CUDA_TWIN(elements, from, to) FAKE_CUDA_TWIN(planes, from, to) FAKE_CUDA_TWIN(pixels, from, to)

std::vector<Twin> kernel_twins() { return {DL_KERNEL_TYPES(FAKE_CUDA_TWINS)}; }

}  // namespace fake_cuda
