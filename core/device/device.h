// Where batches end up. A Device serves one loader: it page-locks the loader's slots and gives each its place in
// device memory, with the events that order three parties without making any of them wait on the host:
//
//   worker:   send()        side stream: wait DONE, copies, kernels, record READY
//   consumer: wait(s)       stream s: wait READY            (s is remembered as a user)
//             release(s)    stream s: record DONE           (or done(): on every stream that waited)
//   worker:   sent()        host memory may be refilled once READY has happened; device memory once DONE has, for
//                           which the next send() makes the side stream wait
//
// Threads: as said at each function. Any thread's current context is left as it was found.
// Failure: after a sticky error of the driver everything returns kDeviceLost, the driver is not called again, and what
// it gave is leaked rather than freed.
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

// A piece of a slot that crosses the bus in one copy.
struct CopyRange {
  int64_t offset = 0;
  int64_t bytes = 0;
};

// One kernel: the rows of one field, from the copied bytes (or from what is resident) to where they are delivered.
struct TailCall {
  const Tail* tail = nullptr;
  int64_t rows = 0;
  const std::byte* resident = nullptr;  // device memory; null: the slot itself
  int64_t source_offset = 0;            // in the slot or in `resident`, of row 0
  int64_t source_stride = 0;            // bytes from row to row
  int64_t index_offset = -1;     // in the slot: int64_t[rows], which resident row each row is; -1: row i is i
  int64_t geometry_offset = -1;  // in the slot: TailGeometry[rows]; -1: none
  int64_t target_offset = 0;     // in the slot: packed rows
};

// The place of one slot in device memory.
class DeviceSlot {
 public:
  virtual ~DeviceSlot() = default;  // waits until the device has done with it
  virtual std::byte* memory() const = 0;

  // Copies ranges of `host` to the same offsets of memory() and runs `calls`, in stream order. By the slot's last
  // worker. Never waits for the device.
  virtual Status send(const std::byte* host, std::span<const CopyRange> copies,
                      std::span<const TailCall> calls) = 0;
  // Whether the copies are done, so that the host side may be refilled. True when nothing was sent, and after a loss.
  virtual bool sent() = 0;
  virtual Status
  wait_sent() = 0;  // blocks until READY; by workers that have nothing else to do, and device_sync=host

  // The consumer's, any thread. Streams must live until the batch is released.
  virtual Status wait(void* stream) = 0;
  virtual Status release(
      void* stream) = 0;  // DONE on this stream: it no longer counts among those that waited
  // The last reference is gone: DONE on every stream that waited and was not released since.
  virtual void done() noexcept = 0;
};

// Device memory that lives as long as the loader (io=device).
class DeviceBlock {
 public:
  virtual ~DeviceBlock() = default;
  virtual std::byte* memory() const = 0;
  // Copies and waits; at create only.
  virtual Status upload(int64_t offset, const std::byte* from, int64_t bytes) = 0;
};

struct DeviceInfo {
  std::string name;      // "NVIDIA H100 80GB HBM3", or "cpu"
  std::string driver;    // "13.0", or ""
  bool kernels = false;  // tails can run there
  std::string why_not;   // when not: what is missing
};

class Device {
 public:
  virtual ~Device() = default;
  virtual int32_t type() const = 0;  // as DLPack: 1 cpu, 2 cuda
  virtual int32_t index() const = 0;
  virtual const DeviceInfo& info() const = 0;

  // Page-locks `count` slots of `stride` bytes that lie side by side: all at once, else slot by slot as far as the
  // driver goes. Returns how many of the first slots are page-locked; fewer than asked is told by one warning. Called
  // once. unpin(): before the memory is freed.
  virtual int64_t pin(std::byte* first, int64_t stride, int64_t count) = 0;
  virtual void unpin() noexcept = 0;

  // First in each thread of the loader's own: what it does must not end a graph capture in a thread of the host's.
  virtual void enter_thread() noexcept {}

  virtual bool runs(const Tail& tail) const = 0;
  // Device memory for `count` slots in one allocation. kNoMemory says how much was needed and how much is free. None
  // on the cpu.
  virtual Result<std::vector<std::unique_ptr<DeviceSlot>>> make_slots(int64_t count, int64_t bytes) = 0;
  // The first `bytes` of `from` again, in memory of its own (a batch beyond max_leases), in stream order.
  virtual Result<std::unique_ptr<DeviceSlot>> copy_slot(DeviceSlot& from, int64_t bytes) = 0;
  virtual Result<std::unique_ptr<DeviceBlock>> make_block(int64_t bytes) = 0;

  virtual int64_t device_bytes() const = 0;  // held now
  virtual bool lost() const = 0;
};

struct DeviceRequest {
  std::string_view name = "cpu";  // "cpu", "cuda", "cuda:N"
  std::string_view cuda_library;  // another file than libcuda.so.1; empty: that one
  bool pin_memory = false;        // with the cpu device too
  Log log;
};
// kBadOption; kNoDevice names what is missing: the library, an entry point, the least driver version, the ordinal and
// how many devices there are.
Result<std::shared_ptr<Device>> open_device(const DeviceRequest& request);

}  // namespace dataline
