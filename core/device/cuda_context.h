// One device as one loader uses it: the retained primary context, the loader's side streams, its events, and whether
// the device is lost. Slots share it, so it lives until the last lease is given back.
//
// Every driver call goes through call(): it makes none once the device is lost or in a forked child, and notices
// when it gets lost. The one exception is the pop of CurrentContext, which gives a thread its own context back.
// Threads: internally synchronized.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "core/base/status.h"
#include "core/base/thread_mutex.h"
#include "core/device/cuda_driver.h"
#include "core/memory/fork_guard.h"

namespace dataline {

// Two: the copy of one batch runs beside the kernels of another.
constexpr int kSideStreams = 2;

struct SideStream {
  ThreadMutex mutex;  // one batch's operations lie together in the stream
  CudaStream stream = nullptr;
};

class CudaContext {
 public:
  // kNoDevice: no such ordinal (how many there are), or no driver that works. `side_streams` 0: none, for a
  // loader that only page-locks.
  static Result<std::shared_ptr<CudaContext>> open(std::shared_ptr<const CudaDriver> driver, int32_t ordinal,
                                                   int side_streams);
  // What an error means while a device is opened: whatever it is, there is no device to work with; only missing
  // memory is worth another code.
  static Status no_device(Status why);
  CudaContext(std::shared_ptr<const CudaDriver> driver, int32_t ordinal);
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
  Status unusable() const;    // why not: kForked or kDeviceLost with what was seen first
  Status lose(Status cause);  // lost from now on; returns unusable(), or `cause` when that says as much

  // The driver's answer to name(arguments...) as a Status: kDeviceLost when it is sticky, kNoMemory,
  // kInvalidArgument for a handle it does not know, else kInternal.
  template <typename... Parameters, typename... Arguments>
  Status call(const char* name, CudaCode (*entry)(Parameters...), Arguments... arguments) {
    if (!usable()) return unusable();
    const CudaCode code = entry(arguments...);
    return code == kCudaSuccess ? Status::ok() : failed(name, code);
  }
  // For calls with answers of their own: the code and no judgement, except that a sticky one loses the device.
  template <typename... Parameters, typename... Arguments>
  CudaCode ask(const char* name, CudaCode (*entry)(Parameters...), Arguments... arguments) {
    if (!usable()) return kCudaDeinitialized;
    const CudaCode code = entry(arguments...);
    if (cuda_code_is_sticky(code)) static_cast<void>(failed(name, code));
    return code;
  }
  Status failed(const char* name, CudaCode code);
  std::string code_text(CudaCode code);  // "CUDA_ERROR_LAUNCH_FAILED (719)"

  // Events without timing, reused: none is created once as many exist as are ever in use at a time.
  // The context must be current.
  Status reserve_events(int64_t count);
  Result<CudaEvent> take_event();
  void give_event(CudaEvent event) noexcept;

  Status wait_side_streams();  // blocks; makes the context current itself

  void count_bytes(int64_t bytes) { device_bytes_.fetch_add(bytes, std::memory_order_relaxed); }
  int64_t device_bytes() const { return device_bytes_.load(std::memory_order_relaxed); }
  // kNoMemory: "N bytes of device memory are needed for WHAT; F of T are free". The context must be current.
  Status no_memory(const char* what, int64_t bytes);

 private:
  Status start(int side_streams);
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

  ThreadMutex events_mutex_;
  std::vector<CudaEvent> events_;  // guarded by events_mutex_: those not in use
  int64_t events_created_ = 0;     // guarded by events_mutex_

  std::atomic<int64_t> device_bytes_{0};
};

// The context is this thread's current one as long as this lives; then the thread has its own again.
class CurrentContext {
 public:
  explicit CurrentContext(CudaContext& context);
  ~CurrentContext();
  CurrentContext(const CurrentContext&) = delete;
  CurrentContext& operator=(const CurrentContext&) = delete;

  const Status& status() const { return status_; }

 private:
  CudaContext& context_;
  Status status_;
  bool pushed_ = false;
};

}  // namespace dataline
