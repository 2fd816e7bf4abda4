// SPDX-License-Identifier: Apache-2.0
#include "core/loader/delivery.h"

namespace dataline {
namespace {

constexpr int32_t kCpuDevice = 1;  // as DLPack

// Batches are lent from the slots themselves: every default of Delivery is right.
class HostDelivery final : public Delivery {
 public:
  HostDelivery(Device& device, const Pipeline& pipeline, const LoaderConfig& config)
      : Delivery(device, pipeline, config) {}
};

}  // namespace

std::unique_ptr<Delivery> Delivery::create(Device& device, const Pipeline& pipeline,
                                           const LoaderConfig& config) {
  if (device.type() != kCpuDevice) return make_device_delivery(device, pipeline, config);
  return std::make_unique<HostDelivery>(device, pipeline, config);
}

bool Delivery::to_device() const { return device_.type() != kCpuDevice; }

Delivery::~Delivery() { device_.unpin(); }

bool Delivery::pins_slots() const { return to_device() || config_.pin_memory; }

Status Delivery::prepare(std::span<std::byte> memory, int64_t stride) {
  if (!pins_slots()) return Status::ok();
  pinned_slots_ = device_.pin(memory.data(), stride, static_cast<int64_t>(memory.size()) / stride);
  return Status::ok();
}

void Delivery::place(int64_t slot, SlotPlace& place) { place.pinned = slot < pinned_slots_; }

Status Delivery::lost_error() const {
  return error(Code::kDeviceLost, "device ", config_.device,
               " is lost after an error of its driver: this loader can only be destroyed");
}

Result<std::unique_ptr<OverflowBatch>> Delivery::copy(Slot& slot, HostMemory& memory) {
  return copy_batch(slot, pipeline_, memory, nullptr);
}

}  // namespace dataline
