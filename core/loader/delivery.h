// The way of a filled batch to its consumer, and of its slot back, as far as the kind of device decides it. On the host, for
// which every default here is right, a batch is complete when its rows are in place, and its slot is free as soon as the
// consumer has released it; on a device (device_delivery.cpp) both wait for copies.
//
// A slot whose copies are in flight is Copying (they must be complete before the batch is lent: device_sync=host) or
// Draining (they must be complete before the slot is filled again). Delivery owns it until a function here hands it out.
//
// Threads: as said at each function. Locks nothing but its own lists; calls nobody's functions but the device's.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "core/base/cancel.h"
#include "core/batch/slot.h"
#include "core/device/device.h"
#include "core/loader/filler.h"
#include "core/loader/options.h"
#include "core/loader/pipeline.h"
#include "core/memory/host_memory.h"

namespace dataline {

// A batch beyond max_leases: the slot's batch again, in memory of its own, so that the slot is free at once.
struct OverflowBatch final : Batch {
  OverflowBatch(const std::vector<OutputField>& outputs, Block block)
      : Batch(outputs), memory(std::move(block)) {}
  Block memory;                        // on a device: offsets and sample indices alone
  std::unique_ptr<DeviceSlot> device;  // null on the cpu device
};

class Metrics;

class Delivery {
 public:
  // `device`, `pipeline` and `config` outlive it.
  static std::unique_ptr<Delivery> create(Device& device, const Pipeline& pipeline,
                                          const LoaderConfig& config);
  virtual ~Delivery();  // waits until the device has done with every slot, and unpins them

  // --- At create ---
  // `memory`: the slots' host memory, `stride` bytes each. kNoMemory says how much the device was asked for.
  virtual Status prepare(std::span<std::byte> memory, int64_t stride);
  virtual void place(int64_t slot, SlotPlace& place);  // fills in what the device decides of it
  bool to_device() const;
  bool pins_slots() const;  // they are page-locked, so that all of their memory is touched at create
  // Who is told what the device did for each batch, while it wants to know. Outlives the slots.
  virtual void time_for(Metrics& /*metrics*/) {}
  // io=device: sends the set. `staging`: the slots' memory, not in use yet.
  virtual Status upload(const CancelToken* /*token*/, std::span<std::byte> /*staging*/,
                        WorkerScratch& /*scratch*/, HostMemory& /*memory*/) {
    return Status::ok();
  }

  // --- Fillers ---
  // The batch is Staged and the caller's alone. True: it can be lent now, and is still the caller's. False: it is Copying
  // and listed here until somebody takes it; the caller does not touch the slot any more.
  virtual bool send(Slot& /*slot*/, int64_t /*sequence*/) { return true; }
  // Takes a listed batch, complete or not. False: another thread has taken it. Also restart()'s.
  virtual bool take_copying(int64_t /*sequence*/) { return false; }
  // Around the calls of fillers, wait_for_drained() and BatchWindow's opening of batches.
  DeviceThread thread() { return DeviceThread(device_); }
  // Whether somebody waits for copies that no thread waits for yet: a worker's to do, by finish_copies(). Those of the
  // consumer's next batch come before everything else.
  virtual bool needs_worker() const { return false; }
  virtual bool copy_wanted() const { return false; }
  struct Finished {
    bool any = false;         // false: there was nothing to do
    Slot* batch = nullptr;    // Copying, complete, the caller's: for BatchWindow::ready()
    int64_t sequence = 0;     // of it
    Slot* drained = nullptr;  // for BatchWindow::add_free()
  };
  virtual Finished finish_copies() { return {}; }  // blocks
  // A Draining slot whose copies are complete, or null; then a worker is asked to wait for one if there are any.
  virtual Slot* take_drained() { return nullptr; }

  // --- Consumers ---
  // Whether the batch is listed and complete; it is the caller's then.
  virtual bool take_complete(Slot& /*slot*/, int64_t /*sequence*/) { return false; }
  // The batch at the head. True: a worker is asked to wait for its copies.
  virtual bool want(int64_t /*sequence*/) { return false; }
  // num_workers=0: waits for a slot in a worker's place.
  virtual Finished wait_for_drained() { return {}; }
  // What next() returns instead of waiting for the batch at the head to be opened: no slot comes back before a graph capture
  // is over, which next()'s own thread may have to end.
  virtual Status held() { return Status::ok(); }
  // What next() returns instead of a batch: the device is lost, or, once, why a slot did not come back.
  virtual Status failure() { return Status::ok(); }
  virtual bool lost() const { return false; }

  // --- Any thread ---
  // The slot is Draining and the caller's. True: it can be filled again; false: it is listed until its copies are done, which
  // those who need a slot ask for, by take_drained(), and not the consumer that gives one back.
  virtual bool release(Slot& /*slot*/) { return true; }
  virtual Status wait(Batch& /*batch*/, void* /*stream*/) { return Status::ok(); }
  virtual Status done(Batch& /*batch*/, void* /*stream*/) { return Status::ok(); }
  virtual void passed_on(Batch& /*batch*/) noexcept {}
  virtual void last_release(Batch& /*batch*/) noexcept {}
  // After its last release. Its memory is freed, later where a graph capture has to end first.
  virtual void give_up(std::unique_ptr<OverflowBatch> /*batch*/) noexcept {}
  // The leased slot's batch again, in memory of its own. kOverBudget, kNoMemory (of either memory), kDeviceLost.
  virtual Result<std::unique_ptr<OverflowBatch>> copy(Slot& slot, HostMemory& memory);
  virtual int64_t copied_bytes() const { return 0; }
  int64_t pinned_slots() const { return pinned_slots_; }
  Status lost_error() const;

 protected:
  Delivery(Device& device, const Pipeline& pipeline, const LoaderConfig& config)
      : device_(device), pipeline_(pipeline), config_(config) {}
  // `device`: the slot's half there, copied already; null on the cpu device.
  Result<std::unique_ptr<OverflowBatch>> copy_batch(Slot& slot, HostMemory& memory,
                                                    std::unique_ptr<DeviceSlot> device) const;

  Device& device_;
  const Pipeline& pipeline_;
  const LoaderConfig& config_;
  int64_t pinned_slots_ = 0;
};

std::unique_ptr<Delivery> make_device_delivery(Device& device, const Pipeline& pipeline,
                                               const LoaderConfig& config);

}  // namespace dataline
