// A loader's view of one device: the retained primary context, side streams, events, memory, and whether the device is
// lost.
// Slots share it, so it lives until the last lease is released.
//
// Every driver call goes through call() or ask(), which make none once the device is lost or in a forked child, and which
// detect the loss. The exceptions restore what is a thread's own: its context (CurrentContext), its capture mode
// (RelaxedCapture).
// Threads: internally synchronized.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/base/status.h"
#include "core/base/thread_mutex.h"
#include "core/device/cuda_driver.h"
#include "core/device/cuda_timer.h"
#include "core/memory/pages.h"

namespace dataline {

// Two, so that the copies of one batch overlap the kernels of another.
constexpr int kSideStreams = 2;

struct SideStream {
  ThreadMutex mutex;  // keeps the operations of one batch contiguous in the stream
  CudaStream stream = nullptr;
};

class CudaContext {
 public:
  // With the driver of open_cuda_driver(). kNoDevice: no working driver, or no such ordinal (says how many there are).
  // `side_streams` is 0 for a loader that only page-locks.
  static Result<std::shared_ptr<CudaContext>> open(std::string_view library, int32_t ordinal,
                                                   int side_streams);
  // The device whose primary context is current in this thread, without side streams. Null: none is. Takes no device memory,
  // and starts no driver that the process does not use already.
  static Result<std::shared_ptr<CudaContext>> open_current(std::string_view library);
  // Maps an error during opening to kNoDevice, except kNoMemory.
  static Status no_device(Status why);
  CudaContext(std::shared_ptr<const CudaDriver> driver, int32_t ordinal)
      : driver_(std::move(driver)), ordinal_(ordinal) {}
  ~CudaContext();  // waits for the side streams
  CudaContext(const CudaContext&) = delete;
  CudaContext& operator=(const CudaContext&) = delete;

  const CudaDriver& driver() const { return *driver_; }
  int32_t ordinal() const { return ordinal_; }
  CudaContextHandle handle() const { return handle_; }
  const std::string& name() const { return name_; }
  bool memory_pools() const { return memory_pools_; }
  SideStream& side(int64_t slot) { return side_[static_cast<size_t>(slot % kSideStreams)]; }

  bool lost() const { return lost_.load(std::memory_order_acquire); }
  bool usable() const { return !lost() && !fork_.forked(); }
  std::string cause() const;  // of the loss: what was seen first; empty while there is none
  Status unusable() const;    // why not: kForked or kDeviceLost with what was seen first
  // Marks the device lost; returns unusable(), or `cause` when that is kDeviceLost.
  Status lose(Status cause);
  // After a failure in the midst of what was to be queued in a side stream (locked): its completion cannot be observed,
  // so the device is lost. Unless a capture forbade the rest: then what is queued is waited for, and `cause` returned.
  Status abandon(SideStream& side, Status cause);

  // Calls the entry and maps its result: kDeviceLost when sticky, kNoMemory, kInvalidArgument for an unknown
  // handle, kWrongState for what a capture forbids (not_now()), else kInternal.
  template <typename... Parameters>
  Status call(const CudaEntry<Parameters...>& entry, std::type_identity_t<Parameters>... arguments) {
    if (!usable()) return unusable();
    const CudaCode code = entry(arguments...);
    return code == kCudaSuccess ? Status::ok() : failed(entry.name, code);
  }
  // Returns the raw code, for calls with expected failures; a sticky code still marks the device lost.
  template <typename... Parameters>
  CudaCode ask(const CudaEntry<Parameters...>& entry, std::type_identity_t<Parameters>... arguments) {
    if (!usable()) return kCudaDeinitialized;
    const CudaCode code = entry(arguments...);
    if (cuda_code_is_sticky(code)) static_cast<void>(failed(entry.name, code));
    return code;
  }
  // call() on a stream of a consumer's: that the driver knows no such stream is not said of the device, in whatever words it
  // comes. kInvalidArgument then.
  template <typename... Parameters>
  Status call_on_stream(const CudaEntry<Parameters...>& entry,
                        std::type_identity_t<Parameters>... arguments) {
    if (!usable()) return unusable();
    const CudaCode code = entry(arguments...);
    if (code == kCudaSuccess) return Status::ok();
    return code == kCudaContextIsDestroyed || code == kCudaInvalidHandle ? dead_stream(entry.name, code)
                                                                         : failed(entry.name, code);
  }
  Status failed(const char* name, CudaCode code);
  // Of a result of call(): the same call may succeed when a capture is over.
  static bool not_now(const Status& status) { return status.code() == Code::kWrongState; }
  std::string code_text(CudaCode code);  // "CUDA_ERROR_LAUNCH_FAILED (719)"

  // Streams that were found to be of this context, by what cuStreamGetId tells of them: unique in the process, and never
  // another stream's. The last few.
  bool knows_stream(uint64_t id) const;
  void note_stream(uint64_t id);

  // A pool of events without timing; in steady state none is created. The context must be current.
  Status reserve_events(int64_t count);
  Result<CudaEvent> take_event();
  void give_event(CudaEvent event) noexcept;

  DeviceClock& clock() { return clock_; }

  Status wait_side_streams();  // blocks; makes the context current itself

  void count_bytes(int64_t bytes) { device_bytes_.fetch_add(bytes, std::memory_order_relaxed); }
  int64_t device_bytes() const { return device_bytes_.load(std::memory_order_relaxed); }
  // kNoMemory: "N bytes of device memory are needed for WHAT; F of T are free". The context must be current.
  Status no_memory(const char* what, int64_t bytes);

 private:
  Status start(int side_streams);
  Status dead_stream(const char* name, CudaCode code);
  Status create_event(CudaEvent* event);

  std::shared_ptr<const CudaDriver> driver_;
  const int32_t ordinal_;
  ForkGuard fork_;
  CudaOrdinal device_ = 0;
  CudaContextHandle handle_ = nullptr;
  std::string name_;
  bool memory_pools_ = false;
  std::array<SideStream, kSideStreams> side_;

  std::atomic<bool> lost_{false};
  mutable std::mutex cause_mutex_;
  std::string cause_;  // guarded by cause_mutex_

  std::array<std::atomic<uint64_t>, 4> streams_ =
      {};  // relaxed, here and below: the ids depend on nothing else
  std::atomic<uint32_t> streams_noted_{0};

  ThreadMutex events_mutex_;
  std::vector<CudaEvent> events_;  // guarded by events_mutex_: free events
  int64_t events_created_ = 0;     // guarded by events_mutex_

  DeviceClock clock_;
  std::atomic<int64_t> device_bytes_{0};
};

// While it lives this thread's calls break no CUDA graph capture, its own or another thread's: queries, allocations and
// waits do, unless the thread is in relaxed mode. NVIDIA says to change the mode and back like this (cuda.h,
// cuThreadExchangeStreamCaptureMode), and PyTorch does so around its event queries (pytorch#146924).
class RelaxedCapture {
 public:
  explicit RelaxedCapture(CudaContext& context) : context_(context), before_(enter(context)) {}
  ~RelaxedCapture() { leave(context_, before_); }
  RelaxedCapture(const RelaxedCapture&) = delete;
  RelaxedCapture& operator=(const RelaxedCapture&) = delete;

  // For a whole thread: there each call then finds the relaxed mode, and has nothing to give back. Returns the mode before,
  // or the relaxed one if the driver refused, which leave() takes for nothing to do.
  static int32_t enter(CudaContext& context);
  static void leave(CudaContext& context, int32_t before);

 private:
  CudaContext& context_;
  const int32_t before_;
};

// Makes the context current in this thread for its lifetime, then restores the previous one. Enough for what no capture of
// another stream prohibits: asking what a stream is, recording and waiting for events in streams.
class PushedContext {
 public:
  explicit PushedContext(CudaContext& context);
  ~PushedContext();
  PushedContext(const PushedContext&) = delete;
  PushedContext& operator=(const PushedContext&) = delete;

  const Status& status() const { return status_; }

  // For a whole thread.
  static Status enter(CudaContext& context);
  static void leave(CudaContext& context);

 private:
  CudaContext& context_;
  Status status_;
  bool pushed_ = false;
};

// For every call: in relaxed capture mode too.
class CurrentContext {
 public:
  explicit CurrentContext(CudaContext& context) : relaxed_(context), pushed_(context) {}
  const Status& status() const { return pushed_.status(); }

 private:
  const RelaxedCapture relaxed_;
  const PushedContext pushed_;
};

// A device memory allocation, freed with its last user; leaked when the device is lost.
// Threads: internally synchronized; the destructor may run on any thread.
class CudaMemory {
 public:
  // Allocated and freed in the order of `side`; without it, or where the device has no memory pools, synchronizes like
  // cuMemAlloc: only during create. kNoMemory with the message of CudaContext::no_memory(). The context must be current.
  static Result<std::shared_ptr<CudaMemory>> make(std::shared_ptr<CudaContext> context, const char* what,
                                                  int64_t bytes, CudaStream side = nullptr);
  CudaMemory(std::shared_ptr<CudaContext> context, CudaAddress address, int64_t bytes, CudaStream freed_in);
  ~CudaMemory();
  CudaMemory(const CudaMemory&) = delete;
  CudaMemory& operator=(const CudaMemory&) = delete;

  CudaAddress address() const { return address_; }
  bool in_stream() const { return freed_in_ != nullptr; }
  // Never free it: it is unknown when the device has finished with it.
  void leak() { leaked_.store(true); }

 private:
  std::shared_ptr<CudaContext> context_;
  const CudaAddress address_;
  const int64_t bytes_;
  const CudaStream freed_in_;  // null: cuMemFree
  std::atomic<bool> leaked_{false};
};

inline std::byte* cuda_pointer(CudaAddress address) { return reinterpret_cast<std::byte*>(address); }
inline CudaAddress cuda_address(const std::byte* pointer) { return reinterpret_cast<CudaAddress>(pointer); }

}  // namespace dataline
