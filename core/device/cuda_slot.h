// The device buffer of a slot and its events: READY (copies and kernels are done) and one DONE per consumer stream that
// used the batch. device.h says who waits for which.
// A stream that is being captured into a CUDA graph is given neither event: a wait for READY would break the capture, and
// a DONE would be captured and draw the side stream in (the programming guide, "Cross-stream Dependencies and Events").
// wait() refuses it; its DONE is owed until the capture is over: settle().
// Driver calls per batch in steady state, none of which creates an object: send() makes a wait per DONE, a copy per
// range, a launch per tail and a record, three where it is timed; copies_done() a query. On the consumer's thread wait() makes three and the release
// three, and each asks for the context that is current; where that is another, it is pushed and popped.
// Threads: as device.h says.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "core/device/cuda_context.h"
#include "core/device/cuda_timer.h"
#include "core/device/device.h"
#include "core/device/kernel_set.h"

namespace dataline {

class CudaSlot final : public DeviceSlot {
 public:
  // `index` selects the side stream; the slot owns `ready`, an event of the context. `kernels` lives as
  // long as the context.
  CudaSlot(std::shared_ptr<CudaContext> context, std::shared_ptr<const KernelSet> kernels,
           std::shared_ptr<CudaMemory> allocation, std::byte* memory, int64_t index, CudaEvent ready);
  ~CudaSlot() override;

  std::byte* memory() const override { return memory_; }
  Status send(const std::byte* host, std::span<const CopyRange> copies, std::span<const TailCall> calls,
              const DeviceTiming& timing = {}) override;
  bool copies_done() override;
  bool settle() override;
  Status wait_for_copies() override;
  Status wait(void* stream) override;
  Status release(void* stream) override;
  void passed_on() noexcept override;
  void done() noexcept override;

  // Fills a new slot with the first `bytes` of `from`, after what was sent there.
  Status copy_from(CudaSlot& from, int64_t bytes);
  int64_t index() const { return index_; }

 private:
  // A stream of a consumer's. The id tells it from an earlier one of the same handle.
  struct User {
    CudaStream stream = nullptr;
    uint64_t id = kNoId;
  };
  static constexpr uint64_t kNoId = UINT64_MAX;  // not asked for

  Result<bool> is_ours(CudaStream stream, uint64_t id = kNoId);
  Status not_ours() const;
  Result<bool> is_captured(CudaStream stream);
  Result<uint64_t> id_of(CudaStream stream);
  Status wait_done();  // the side stream waits for every DONE
  Status record_ready();
  void note_ready();  // it was observed
  // Under users_mutex_:
  std::vector<User>::iterator find_user(CudaStream stream);
  Status record_done(CudaStream stream);
  Status finish(const User& user);  // its DONE is recorded, or owed, or unknown
  Status try_finish(const User& user);
  SideStream& side() { return context_->side(index_); }
  Status drain();       // before the memory is freed
  Status held() const;  // why it cannot be sent, or freed, while settle() is false

  std::shared_ptr<CudaContext> context_;
  std::shared_ptr<const KernelSet> kernels_;
  std::shared_ptr<CudaMemory> allocation_;
  std::byte* const memory_;
  const int64_t index_;
  const CudaEvent ready_;
  std::atomic<bool> in_flight_{false};  // READY was recorded and not yet observed
  SendTimer timer_;

  ThreadMutex users_mutex_;
  std::vector<User> users_;        // guarded by users_mutex_: waited, not released since
  std::vector<CudaEvent> done_;    // guarded by users_mutex_: since the last send
  std::vector<User> owed_;         // guarded by users_mutex_: released while they were captured
  std::atomic<bool> owes_{false};  // owed_ is not empty
  bool unnamed_ = false;           // guarded by users_mutex_: passed on, and no stream named since
  bool done_unknown_ = false;      // guarded by users_mutex_: a DONE could not be recorded
};

}  // namespace dataline
