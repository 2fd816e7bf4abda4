// What the tests of slots share. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tests/device/device_support.h"

namespace dataline {

constexpr int64_t kBytes = 10'000;

// A device, and slots of it that are page-locked.
class SlotTest : public FakeCuda {
 protected:
  // `count` slots, page-locked.
  void make(int64_t count, std::string_view name = "cuda:0") {
    device_ = open(name);
    host_ = std::make_unique<HostSlots>(count, kBytes);
    ASSERT_EQ(device_->pin(host_->slot(0), host_->stride(), count).take(), count);
    auto slots = device_->make_slots(count, host_->stride());
    ASSERT_TRUE(slots.is_ok()) << slots.status().message();
    slots_ = slots.take();
    fake_cuda_require_pinned(1);
  }
  ~SlotTest() override { end(); }
  void end() {
    fake_cuda_hot_path(0);
    slots_.clear();
    if (device_ != nullptr) device_->unpin();
    device_.reset();
  }
  DeviceSlot& slot(int64_t i) { return *slots_[static_cast<size_t>(i)]; }
  // For a thread that makes a worker's calls without ado: the slot itself, inside of worker().
  DeviceSlot& bare(int64_t i) { return static_cast<WorkersSlot&>(slot(i)).slot(); }
  DeviceThread worker() { return DeviceThread(static_cast<WorkersDevice&>(*device_).device()); }
  Status send(int64_t i, int value) {
    host_->fill(i, value);
    return slot(i).send(host_->slot(i), whole(kBytes), {});
  }

  std::shared_ptr<Device> device_;
  std::unique_ptr<HostSlots> host_;
  std::vector<std::unique_ptr<DeviceSlot>> slots_;
};

}  // namespace dataline
