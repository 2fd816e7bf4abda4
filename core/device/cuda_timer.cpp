// SPDX-License-Identifier: Apache-2.0
#include "core/device/cuda_timer.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/base/thread.h"
#include "core/device/cuda_context.h"

namespace dataline {
namespace {

// -1: not to be had.
int64_t elapsed_ns(CudaContext& context, CudaEvent from, CudaEvent to) {
  float milliseconds = 0;
  const CudaCode code = context.ask(context.driver().cuEventElapsedTime, &milliseconds, from, to);
  if (code != kCudaSuccess || !(milliseconds >= 0)) return -1;
  return std::llround(static_cast<double>(milliseconds) * 1e6);
}

void destroy_event(CudaContext& context, CudaEvent& event) {
  if (event != nullptr) static_cast<void>(context.ask(context.driver().cuEventDestroy, event));
  event = nullptr;
}

}  // namespace

int64_t DeviceClock::time_of(CudaContext& context, CudaEvent& event, int64_t recorded_ns) {
  ThreadLock lock(mutex_);
  if (anchor_ == nullptr) {
    anchor_ = std::exchange(event, nullptr);
    anchor_ns_ = recorded_ns;
    return recorded_ns;
  }
  const int64_t since_ns = elapsed_ns(context, anchor_, event);
  if (since_ns < 0) return recorded_ns;  // it happened before the anchor
  anchor_ns_ = std::max(anchor_ns_, recorded_ns - since_ns);
  const int64_t at_ns = anchor_ns_ + since_ns;
  if (since_ns > counted_ns_) {
    std::swap(anchor_, event);
    anchor_ns_ = at_ns;
  }
  return at_ns;
}

void DeviceClock::destroy(CudaContext& context) {
  ThreadLock lock(mutex_);
  destroy_event(context, anchor_);
}

bool SendTimer::record(CudaContext& context, CudaEvent& event, CudaStream side) {
  const CudaDriver& driver = context.driver();
  const bool made = event != nullptr || context.ask(driver.cuEventCreate, &event, 0) == kCudaSuccess;
  if (made && context.ask(driver.cuEventRecord, event, side) == kCudaSuccess) return true;
  timing_.sink = nullptr;
  return false;
}

void SendTimer::begin(CudaContext& context, CudaStream side, const DeviceTiming& timing) {
  timing_ = timing;
  if (timing_.sink == nullptr) return;
  recorded_ns_ = monotonic_ns();
  record(context, begin_, side);
}

void SendTimer::copied(CudaContext& context, CudaStream side, int64_t bytes) {
  if (timing_.sink == nullptr) return;
  bytes_ = bytes;
  record(context, copied_, side);
}

void SendTimer::end(CudaContext& context, CudaStream side) {
  if (timing_.sink != nullptr) record(context, end_, side);
}

void SendTimer::report(CudaContext& context) {
  DeviceTimesSink* const sink = std::exchange(timing_.sink, nullptr);
  if (sink == nullptr) return;
  const int64_t copy_ns = elapsed_ns(context, begin_, copied_);
  const int64_t kernels_ns = elapsed_ns(context, copied_, end_);
  if (copy_ns < 0 || kernels_ns < 0) return;
  sink->add_times({.epoch = timing_.epoch,
                   .step = timing_.step,
                   .begin_ns = context.clock().time_of(context, begin_, recorded_ns_),
                   .copy_ns = copy_ns,
                   .kernels_ns = kernels_ns,
                   .copied_bytes = bytes_});
}

void SendTimer::destroy(CudaContext& context) {
  for (CudaEvent* event : {&begin_, &copied_, &end_}) destroy_event(context, *event);
}

}  // namespace dataline
