// The time between two events, for benchmarks: of their last records that ran. SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "tests/support/fake_cuda/world.h"

using namespace fake_cuda;

extern "C" FAKE_CUDA_API CUresult cuEventElapsedTime(float* milliseconds, CUevent begin, CUevent end);

CUresult cuEventElapsedTime(float* milliseconds, CUevent begin, CUevent end) {
  Call call("cuEventElapsedTime");
  if (call.event(begin) == nullptr || call.event(end) == nullptr) return call.code;
  const auto ended_ns = [&](CUevent event) {
    const auto& trace = call.w.trace;
    const auto found = std::find_if(trace.rbegin(), trace.rend(), [&](const fake_cuda_operation& ran) {
      return ran.kind == FAKE_CUDA_RECORD && ran.event == value_of(event);
    });
    return found == trace.rend() ? int64_t{-1} : found->end_ns;
  };
  const int64_t from = ended_ns(begin), to = ended_ns(end);
  if (from < 0 || to < 0) return kNotReady;
  *milliseconds = static_cast<float>(static_cast<double>(to - from) * 1e-6);
  return call.code;
}
