// The device's half of a loader's slots: what of a full slot crosses the bus, which kernels run on it, and the events
// that say when its memory may be written again.
//
// Threads: send(): the slot's last worker. Others: any thread. Immutable but for the counter after prepare().
// Failure: after a loss of the device everything returns kDeviceLost and sent() is true.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/batch/slot.h"
#include "core/device/device.h"
#include "core/loader/pipeline.h"

namespace dataline {

class DeviceSlots {
 public:
  // Device memory for `count` slots. kNoMemory says how much was needed and how much is free.
  Status prepare(Device& device, const Pipeline& pipeline, int64_t count);
  bool used() const { return !places_.empty(); }
  DeviceSlot& at(int32_t number) { return *places_[static_cast<size_t>(number)].slot; }

  // io=device: the memory of the set, to be filled before the first batch. Null otherwise.
  DeviceBlock* resident() { return resident_.get(); }
  void count_copied(int64_t bytes) { copied_bytes_.fetch_add(bytes, std::memory_order_relaxed); }

  // Queues the copies and kernels of a slot that its workers are done with.
  Status send(Slot& slot);
  // The slot's batch again, in memory of its own.
  Result<std::unique_ptr<DeviceSlot>> copy(const Slot& slot);
  int64_t copied_bytes() const { return copied_bytes_.load(std::memory_order_relaxed); }  // a statistic

  void clear() noexcept;  // waits until the device has done with every slot; a forked child calls no driver

 private:
  // Filled anew for each batch; room was made at create.
  struct Place {
    std::unique_ptr<DeviceSlot> slot;
    std::vector<CopyRange> ranges;
    std::vector<TailCall> calls;
  };
  void find_ranges(const Slot& slot, std::vector<CopyRange>& ranges) const;

  Device* device_ = nullptr;
  const Pipeline* pipeline_ = nullptr;
  std::unique_ptr<DeviceBlock> resident_;
  std::vector<Place> places_;  // by the slot's number
  std::atomic<int64_t> copied_bytes_{0};
};

}  // namespace dataline
