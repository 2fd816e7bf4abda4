// SPDX-License-Identifier: Apache-2.0
#include "core/loader/delivery.h"

#include <cstring>
#include <utility>
#include <vector>

#include "core/base/checked.h"
#include "core/loader/config/delivery.h"

namespace dataline {
namespace {

constexpr int32_t kCpuDevice = 1;  // as DLPack

// Copies pieces of a slot one after another into a block.
class Pieces {
 public:
  explicit Pieces(std::byte* at) : at_(at) {}

  std::byte* add(const void* from, int64_t bytes) {
    std::byte* to = at_;
    if (bytes > 0) std::memcpy(to, from, static_cast<size_t>(bytes));
    at_ += round_up(bytes, kTensorAlignment);
    return to;
  }
  int64_t* add_words(const int64_t* from, int64_t count) {
    return reinterpret_cast<int64_t*>(add(from, count * 8));
  }

 private:
  std::byte* at_;
};

int64_t host_bytes(const Slot& slot) {
  const std::vector<Storage>& storages = slot.layout().storages;
  int64_t total = 2 * round_up(slot.samples * 8, kTensorAlignment);
  for (size_t s = 0; s < storages.size(); ++s) {
    if (!slot.on_device) total += round_up(slot.used_bytes(s), kTensorAlignment);
    if (storages[s].kind == FieldKind::kRagged) total += round_up((slot.samples + 1) * 8, kTensorAlignment);
  }
  return total;
}

// Nothing is copied: there is nothing to wait for.
class HostDelivery final : public Delivery {
 public:
  HostDelivery(Device& device, const Pipeline& pipeline, const DeliveryConfig& config)
      : Delivery(device, pipeline, config) {}

  Status prepare(std::span<std::byte> memory, int64_t stride) override {
    return Delivery::prepare(memory, stride);
  }
  void place(int64_t slot, SlotPlace& place) override { Delivery::place(slot, place); }
  void time_for(Metrics&) override {}
  Status upload(const CancelToken*, std::span<std::byte>, WorkerScratch&, HostMemory&) override {
    return Status::ok();
  }

  bool send(Slot&, int64_t) override { return true; }
  bool take_copying(int64_t) override { return false; }
  bool needs_worker() const override { return false; }
  bool copy_wanted() const override { return false; }
  Finished finish_copies() override { return {}; }
  Slot* take_drained() override { return nullptr; }

  bool take_complete(Slot&, int64_t) override { return false; }
  bool want(int64_t) override { return false; }
  Finished wait_for_drained() override { return {}; }
  Status held() override { return Status::ok(); }
  Status failure() override { return Status::ok(); }

  bool release(Slot&) override { return true; }
  Status wait(Batch&, void*) override { return Status::ok(); }
  Status done(Batch&, void*) override { return Status::ok(); }
  void passed_on(Batch&) noexcept override {}
  void last_release(Batch&) noexcept override {}
  void give_up(std::unique_ptr<OverflowBatch>) noexcept override {}
  Result<std::unique_ptr<OverflowBatch>> copy(Slot& slot, HostMemory& memory) override {
    return copy_batch(slot, memory, nullptr);
  }
};

}  // namespace

std::unique_ptr<Delivery> Delivery::create(Device& device, const Pipeline& pipeline,
                                           const DeliveryConfig& config, const WorkerConfig& workers) {
  if (device.type() != kCpuDevice) return make_device_delivery(device, pipeline, config, workers);
  return std::make_unique<HostDelivery>(device, pipeline, config);
}

bool Delivery::to_device() const { return device_.type() != kCpuDevice; }

Delivery::~Delivery() { device_.unpin(); }

bool Delivery::pins_slots() const { return to_device() || config_.pin_memory; }

Status Delivery::prepare(std::span<std::byte> memory, int64_t stride) {
  if (!pins_slots()) return Status::ok();
  DL_ASSIGN_OR_RETURN(pinned_slots_,
                      device_.pin(memory.data(), stride, static_cast<int64_t>(memory.size()) / stride));
  return Status::ok();
}

void Delivery::place(int64_t slot, SlotPlace& place) { place.pinned = slot < pinned_slots_; }

Status Delivery::lost_error() const {
  const std::string loss = device_.loss();
  return error(Code::kDeviceLost, "device ", config_.device, " is lost after a driver error",
               loss.empty() ? "" : " (" + loss + ")", ": this loader can only be destroyed");
}

Result<std::unique_ptr<OverflowBatch>> Delivery::copy_batch(Slot& slot, HostMemory& memory,
                                                            std::unique_ptr<DeviceSlot> device) const {
  DL_ASSIGN_OR_RETURN(Block block, memory.allocate(host_bytes(slot), kTensorAlignment, MemoryKind::kOverflow,
                                                   "a batch beyond max_leases"));
  auto copy = std::make_unique<OverflowBatch>(pipeline_.outputs, std::move(block));
  copy->device = std::move(device);

  Pieces pieces(copy->memory.data());
  const std::vector<Storage>& storages = pipeline_.layout.storages;
  std::vector<std::byte*> data(storages.size());
  std::vector<int64_t*> offsets(storages.size(), nullptr);
  for (size_t s = 0; s < storages.size(); ++s) {
    data[s] = slot.on_device ? copy->device->memory() + storages[s].offset
                             : pieces.add(slot.rows(s), slot.used_bytes(s));
    if (storages[s].kind == FieldKind::kRagged) {
      offsets[s] = pieces.add_words(slot.offsets(s), slot.samples + 1);
    }
  }
  copy->sample_indices = pieces.add_words(slot.sample_indices, slot.samples);
  copy->sample_sources = pieces.add_words(slot.sample_sources, slot.samples);
  for (size_t f = 0; f < pipeline_.outputs.size(); ++f) {
    const OutputField& output = pipeline_.outputs[f];
    if (output.region >= 0) {
      const Region& region = pipeline_.layout.regions[static_cast<size_t>(output.region)];
      copy->views.set_data(f, copy->device->memory() + region.offset, nullptr);
    } else {
      copy->views.set_data(f, data[static_cast<size_t>(output.storage)],
                           offsets[static_cast<size_t>(output.storage)]);
    }
  }
  if (slot.on_device && !slot.views.views().empty()) {
    const BatchView& view = slot.views.views().front();
    copy->views.set_device(view.device_type, view.device_index, 0);
  }
  copy->views.set_extents_of(slot.views);
  copy->views.set_samples(slot.samples);
  copy->in_slot = false;
  copy->on_device = slot.on_device;
  copy->epoch = slot.epoch;
  copy->step = slot.step;
  copy->samples = slot.samples;
  copy->valid = slot.valid;
  return copy;
}

}  // namespace dataline
