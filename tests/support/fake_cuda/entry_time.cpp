// The time between two events: of their last records that ran. SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "tests/support/fake_cuda/world.h"

using namespace fake_cuda;

CUresult cuEventElapsedTime(float* milliseconds, CUevent begin, CUevent end) {
  constexpr unsigned kDisableTiming = 2;
  Call call("cuEventElapsedTime");
  call.unsafe();
  for (const CUevent one : {begin, end}) {
    const Event* event = call.event(one);
    if (event == nullptr) return call.code;
    if ((event->flags & kDisableTiming) != 0) {
      call.wrong("event-misuse", "the event was made without timing");
      return kInvalidHandle;
    }
    if (event->latest != nullptr && !event->latest->done) return kNotReady;
  }
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
