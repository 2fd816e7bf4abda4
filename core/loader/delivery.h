// The way of a filled batch to its consumer, and of its slot back, as far as the kind of device decides it. On the host
// (delivery.cpp) a batch is complete when its rows are in place, and its slot is free as soon as the consumer has released
// it; on a device (device_delivery.cpp) both wait for copies.
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

#include "core/base/atomic.h"
#include "core/base/cancel.h"
#include "core/batch/slot.h"
#include "core/device/device.h"
#include "core/loader/filler.h"
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
struct DeliveryConfig;  // core/loader/config/delivery.h
struct WorkerConfig;    // core/loader/config/workers.h

// No function has a default, so the delivery of a device cannot inherit what is right for the host. Functions "implemented
// here" are called by name, as in Delivery::place().
class Delivery {
 public:
  // All of these outlive it.
  static std::unique_ptr<Delivery> create(Device& device, const Pipeline& pipeline,
                                          const DeliveryConfig& config, const WorkerConfig& workers);
  virtual ~Delivery();  // waits until the device has done with every slot, and unpins them

  // --- At create ---
  // `memory`: the slots' host memory, `stride` bytes each. kNoMemory says how much the device was asked for.
  // Implemented here: pins the slots.
  virtual Status prepare(std::span<std::byte> memory, int64_t stride) = 0;
  // Fills in what the device decides of it. Implemented here: whether it is pinned.
  virtual void place(int64_t slot, SlotPlace& place) = 0;
  bool to_device() const;
  bool pins_slots() const;  // they are page-locked, so that all of their memory is touched at create
  // Who is told what the device did for each batch, while it wants to know. Outlives the slots.
  virtual void time_for(Metrics& metrics) = 0;
  // io=device: sends the set. `staging`: the slots' memory, not in use yet.
  virtual Status upload(const CancelToken* token, std::span<std::byte> staging, WorkerScratch& scratch,
                        HostMemory& memory) = 0;

  // --- Fillers ---
  // The batch is Staged and the caller's alone. True: it can be lent now, and is still the caller's. False: it is Copying
  // and listed here until somebody takes it; the caller does not touch the slot any more.
  virtual bool send(Slot& slot, int64_t sequence) = 0;
  // Takes a listed batch, complete or not. False: another thread has taken it. Also restart()'s.
  virtual bool take_copying(int64_t sequence) = 0;
  // Around the calls of fillers, wait_for_drained() and BatchWindow's opening of batches.
  DeviceThread thread() { return DeviceThread(device_); }
  // Whether somebody waits for copies that no thread waits for yet: a worker's to do, by finish_copies(). Those of the
  // consumer's next batch come before everything else.
  virtual bool needs_worker() const = 0;
  virtual bool copy_wanted() const = 0;
  struct Finished {
    bool any = false;         // false: there was nothing to do
    Slot* batch = nullptr;    // Copying, complete, the caller's: for BatchWindow::ready()
    int64_t sequence = 0;     // of it
    Slot* drained = nullptr;  // for BatchWindow::add_free()
  };
  virtual Finished finish_copies() = 0;  // blocks
  // A Draining slot whose copies are complete, or null; then a worker is asked to wait for one if there are any.
  virtual Slot* take_drained() = 0;

  // --- Consumers ---
  // Whether the batch is listed and complete; it is the caller's then.
  virtual bool take_complete(Slot& slot, int64_t sequence) = 0;
  // The batch at the head. True: a worker is asked to wait for its copies.
  virtual bool want(int64_t sequence) = 0;
  // num_workers=0: waits for a slot in a worker's place.
  virtual Finished wait_for_drained() = 0;
  // What next() returns instead of waiting for the batch at the head to be opened: no slot comes back before a graph capture
  // is over, which next()'s own thread may have to end.
  virtual Status held() = 0;
  // What next() returns instead of a batch: the device is lost, or, once, why a slot did not come back.
  virtual Status failure() = 0;
  bool lost() const { return device_.lost(); }

  // --- Any thread ---
  // The slot is Draining and the caller's. True: it can be filled again; false: it is listed until its copies are done, which
  // those who need a slot ask for, by take_drained(), and not the consumer that gives one back.
  virtual bool release(Slot& slot) = 0;
  virtual Status wait(Batch& batch, void* stream) = 0;
  virtual Status done(Batch& batch, void* stream) = 0;
  virtual void passed_on(Batch& batch) noexcept = 0;
  virtual void last_release(Batch& batch) noexcept = 0;
  // After its last release. Its memory is freed, later where a graph capture has to end first.
  virtual void give_up(std::unique_ptr<OverflowBatch> batch) noexcept = 0;
  // The leased slot's batch again, in memory of its own. kOverBudget, kNoMemory (of either memory), kDeviceLost.
  virtual Result<std::unique_ptr<OverflowBatch>> copy(Slot& slot, HostMemory& memory) = 0;
  int64_t copied_bytes() const { return copied_bytes_.load(std::memory_order_relaxed); }
  int64_t pinned_slots() const { return pinned_slots_; }
  Status lost_error() const;

 protected:
  Delivery(Device& device, const Pipeline& pipeline, const DeliveryConfig& config)
      : device_(device), pipeline_(pipeline), config_(config) {}
  // `device`: the slot's half there, copied already; null on the cpu device.
  Result<std::unique_ptr<OverflowBatch>> copy_batch(Slot& slot, HostMemory& memory,
                                                    std::unique_ptr<DeviceSlot> device) const;

  Device& device_;
  const Pipeline& pipeline_;
  const DeliveryConfig& config_;
  int64_t pinned_slots_ = 0;
  Atomic<int64_t> copied_bytes_{0};  // to the device; relaxed: a statistic
};

std::unique_ptr<Delivery> make_device_delivery(Device& device, const Pipeline& pipeline,
                                               const DeliveryConfig& config, const WorkerConfig& workers);

}  // namespace dataline
