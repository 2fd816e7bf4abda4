// The delivery target of batches. A Device serves one loader: it page-locks the loader's slots and gives each a buffer in
// device memory, with events that order three parties without blocking any of them on the host:
//
//   worker:   send()        side stream: wait DONE, copies, kernels, record READY
//   consumer: wait(s)       stream s: wait READY            (s is remembered as a user)
//             release(s)    stream s: record DONE           (or done(): on every stream that waited)
//   worker:   copies_done()        host memory may be refilled after READY; device memory after DONE, for which the next send()
//                           makes the side stream wait
//
// Threads: stated at each function. The current CUDA context of every thread is preserved.
// Failure: after a sticky driver error everything returns kDeviceLost, the driver is not called again, and its objects are
// leaked rather than freed.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/log.h"
#include "core/base/status.h"
#include "core/base/tail.h"

namespace dataline {

// A part of a slot that is copied to the device in one call.
struct CopyRange {
  int64_t offset = 0;
  int64_t bytes = 0;
};

// One kernel launch: the rows of one field, from the copied (or resident) bytes to the delivered field.
struct TailCall {
  const Tail* tail = nullptr;
  int64_t rows = 0;
  const std::byte* resident = nullptr;  // a dataset in device memory; null: the slot itself
  int64_t source_offset = 0;            // of row 0, in the slot or in `resident`
  int64_t source_stride = 0;            // bytes from row to row
  int64_t index_offset = -1;     // in the slot: int64_t[rows], the resident row of each row; -1: row i is i
  int64_t geometry_offset = -1;  // in the slot: TailGeometry[rows]; -1: none
  int64_t target_offset = 0;     // in the slot: packed rows
};

// What the device did for one send(), by its own clock.
struct DeviceTimes {
  int64_t epoch = 0, step = 0;  // as DeviceTiming had them
  int64_t begin_ns = 0;         // of the copies, on the host's monotonic clock, a launch late at most
  int64_t copy_ns = 0, kernels_ns = 0;
  int64_t copied_bytes = 0;
};

// Is told so, once READY was observed. It outlives the slots.
class DeviceTimesSink {
 public:
  virtual ~DeviceTimesSink() = default;
  virtual void add_times(const DeviceTimes& times) noexcept = 0;  // a worker, or a consumer
};

// Whom to tell of a send(), and which batch it was.
struct DeviceTiming {
  DeviceTimesSink* sink = nullptr;  // null: it is not timed
  int64_t epoch = 0, step = 0;
};

// The device buffer of one slot.
class DeviceSlot {
 public:
  virtual ~DeviceSlot() = default;  // waits until the device has finished with it
  virtual std::byte* memory() const = 0;

  // send, copies_done, settle and wait_for_copies are called inside a DeviceThread.
  //
  // Queues copies of ranges of `host` to the same offsets of memory(), then `calls`. Called by the slot's last worker.
  // Never waits for the device. kWrongState: a capture forbade it, and it may be sent again.
  virtual Status send(const std::byte* host, std::span<const CopyRange> copies,
                      std::span<const TailCall> calls, const DeviceTiming& timing = {}) = 0;
  // Whether READY has happened, so that host memory may be refilled. True when nothing was sent, and after a loss. False
  // also where it cannot be asked for because of a capture: ask again.
  virtual bool copies_done() = 0;
  // Records each DONE that could not be recorded at the release, because its stream was being captured. False: it still is,
  // and the slot cannot be sent yet; ask again.
  virtual bool settle() { return true; }
  // Blocks until READY: for workers without other work, and for device_sync=host. kWrongState: a capture forbids it now.
  virtual Status wait_for_copies() = 0;

  // For consumers, any thread, in whatever state that is. 0 and 1 are the legacy stream, 2 is the calling thread's. Streams must live until the batch
  // is released, and settled. kWrongState: the stream is being captured into a graph.
  virtual Status wait(void* stream) = 0;
  // Records DONE on this stream, which no longer counts as a user.
  virtual Status release(void* stream) = 0;
  // Passed on without a stream: until one waits or is released, the legacy stream, which comes after the blocking streams,
  // stands for the one that reads.
  virtual void passed_on() noexcept {}
  // The last reference is gone: records DONE on every stream that waited and was not released since.
  virtual void done() noexcept = 0;
};

// Device memory that lives as long as the loader (io=device).
class DeviceBlock {
 public:
  virtual ~DeviceBlock() = default;
  virtual std::byte* memory() const = 0;
  // Copies synchronously; only during create.
  virtual Status upload(int64_t offset, const std::byte* from, int64_t bytes) = 0;
};

struct DeviceInfo {
  std::string name;      // "NVIDIA H100 80GB HBM3", or "cpu"
  std::string driver;    // "13.0", or ""
  bool kernels = false;  // tails can run there
  std::string why_not;   // else why not
};

// What a thread gets back when it has done with a device: see DeviceThread.
struct ThreadBefore {
  int32_t capture_mode = 0;
  bool entered = false;
};

class Device {
 public:
  virtual ~Device() = default;
  virtual int32_t type() const = 0;  // as DLPack: 1 cpu, 2 cuda
  virtual int32_t index() const = 0;
  virtual const DeviceInfo& info() const = 0;

  // Page-locks `count` contiguous slots of `stride` bytes: all at once, else slot by slot until the driver refuses.
  // Returns how many of the first slots are page-locked; logs one warning when that is not all. Called once. unpin():
  // before the memory is freed. kInvalidArgument: the host has page-locked a part of a slot, which the driver copies
  // neither as locked memory nor as any other.
  virtual Result<int64_t> pin(std::byte* first, int64_t stride, int64_t count) = 0;
  virtual void unpin() noexcept = 0;

  virtual bool runs(const Tail& tail) const = 0;
  // Device memory for `count` slots in one allocation. kNoMemory says how much was needed and is free. The cpu device
  // returns none.
  virtual Result<std::vector<std::unique_ptr<DeviceSlot>>> make_slots(int64_t count, int64_t bytes) = 0;
  // Loads the kernels of calls that slots like this one will be sent with; only during create. kNoMemory.
  virtual Status load_kernels(const DeviceSlot& /*slot*/, std::span<const TailCall> /*calls*/) {
    return Status::ok();
  }
  // A copy of the first `bytes` of `from` in memory of its own (a batch beyond max_leases), in stream order.
  virtual Result<std::unique_ptr<DeviceSlot>> copy_slot(DeviceSlot& from, int64_t bytes) = 0;
  virtual Result<std::unique_ptr<DeviceBlock>> make_block(int64_t bytes) = 0;

  virtual int64_t device_bytes() const = 0;  // held now
  virtual bool lost() const = 0;
  virtual std::string loss() const { return ""; }  // what the driver said, where it is lost

 private:
  friend class DeviceThread;
  virtual ThreadBefore enter_thread() noexcept { return {}; }
  virtual void leave_thread(ThreadBefore /*before*/) noexcept {}
};

// While it lives this thread can make a worker's calls: the device's context is current in it, and none of its calls
// invalidates a graph capture of the host's. A worker makes one for its whole life, so that no call pays for it; a consumer
// that works makes one for as long.
class DeviceThread {
 public:
  explicit DeviceThread(Device& device) : device_(device), before_(device.enter_thread()) {}
  ~DeviceThread() { device_.leave_thread(before_); }
  DeviceThread(const DeviceThread&) = delete;
  DeviceThread& operator=(const DeviceThread&) = delete;

 private:
  Device& device_;
  const ThreadBefore before_;
};

struct DeviceRequest {
  std::string_view name = "cpu";  // "cpu", "cuda", "cuda:N"
  std::string_view cuda_library;  // the driver library; empty: libcuda.so.1
  bool pin_memory = false;        // for the cpu device
  std::string_view
      pin_device;  // "cuda:N", whose driver page-locks; empty: that of this thread's CUDA context
  Log log;
};
// kBadOption; kNoDevice names what is missing: the library, an entry point, the minimum driver version, or the ordinal and
// how many devices there are.
Result<std::shared_ptr<Device>> open_device(const DeviceRequest& request);

}  // namespace dataline
