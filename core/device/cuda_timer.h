// How long the device takes for one send(), by three events in the side stream: before its copies, between copies and kernels,
// and after the kernels. Only while somebody asks for it: a record costs about a microsecond.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "core/base/thread_mutex.h"
#include "core/device/cuda_driver.h"
#include "core/device/device.h"

namespace dataline {

class CudaContext;

// When an event happened on the host's monotonic clock. The two clocks have no common zero: an event happens after it was
// recorded, and in an idle stream at once, so the latest such bound of all events is a launch late at most. Elapsed times are
// floats, exact to a microsecond for 16 s: after half of that another event becomes the one to count from.
// Threads: internally synchronized.
class DeviceClock {
 public:
  explicit DeviceClock(int64_t counted_ns = kCountedNs) : counted_ns_(counted_ns) {}
  // `event` has happened, and was recorded at `recorded_ns`. It may be taken, and another one (or null) given for it.
  int64_t time_of(CudaContext& context, CudaEvent& event, int64_t recorded_ns);
  void destroy(CudaContext& context);

 private:
  static constexpr int64_t kCountedNs = 8'000'000'000;  // from one event

  const int64_t counted_ns_;
  ThreadMutex mutex_;
  CudaEvent anchor_ = nullptr;  // guarded by mutex_
  int64_t anchor_ns_ = 0;       // guarded by mutex_: when that was
};

// Of one slot. Threads: as DeviceSlot::send() and copies_done(), one at a time. No failure is an error of the batch: then
// nothing is told of it.
class SendTimer {
 public:
  void begin(CudaContext& context, CudaStream side, const DeviceTiming& timing);
  void copied(CudaContext& context, CudaStream side, int64_t bytes);
  void end(CudaContext& context, CudaStream side);
  void report(CudaContext& context);  // READY was observed
  void destroy(CudaContext& context);

 private:
  bool record(CudaContext& context, CudaEvent& event, CudaStream side);

  DeviceTiming timing_;  // its sink is null: not timed
  CudaEvent begin_ = nullptr, copied_ = nullptr, end_ = nullptr;
  int64_t recorded_ns_ = 0, bytes_ = 0;
};

}  // namespace dataline
