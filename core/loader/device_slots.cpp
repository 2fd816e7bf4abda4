// SPDX-License-Identifier: Apache-2.0
#include "core/loader/device_slots.h"

#include <utility>

namespace dataline {
namespace {

// A gap below this is copied along: cheaper than another copy.
constexpr int64_t kMergedGapBytes = int64_t{64} << 10;

// The parts of a call that are the same for every batch.
TailCall call_for(const DeviceTail& tail, const Pipeline& pipeline, DeviceBlock* resident) {
  const Layout& layout = pipeline.layout;
  const auto storage = static_cast<size_t>(tail.storage);
  TailCall call;
  call.tail = &tail.tail;
  if (resident != nullptr) {
    const ResidentRows& source = pipeline.resident->storages[storage];
    call.resident = resident->memory();
    call.source_offset = source.offset + tail.storage_offset;
    call.source_stride = source.row_bytes;
    call.index_offset = layout.indices_offset;
  } else {
    const Storage& source = layout.storages[storage];
    call.source_offset = source.offset + tail.storage_offset;
    call.source_stride = source.row_bytes;
  }
  if (tail.geometry_storage >= 0) {
    call.geometry_offset = layout.storages[static_cast<size_t>(tail.geometry_storage)].offset;
  }
  call.target_offset = layout.regions[static_cast<size_t>(tail.region)].offset;
  return call;
}

}  // namespace

Status DeviceSlots::prepare(Device& device, const Pipeline& pipeline, int64_t count) {
  device_ = &device;
  pipeline_ = &pipeline;
  if (pipeline.resident) {
    DL_ASSIGN_OR_RETURN(resident_, device.make_block(pipeline.resident->bytes));
  }
  DL_ASSIGN_OR_RETURN(auto slots, device.make_slots(count, pipeline.layout.device_bytes));
  for (std::unique_ptr<DeviceSlot>& slot : slots) {
    Place place;
    place.slot = std::move(slot);
    place.ranges.reserve(pipeline.layout.storages.size() + 1);
    for (const DeviceTail& tail : pipeline.tails)
      place.calls.push_back(call_for(tail, pipeline, resident_.get()));
    places_.push_back(std::move(place));
  }
  return Status::ok();
}

// The used bytes of every storage, and the indices where rows are gathered by them, neighbours together: a full batch is
// one copy.
void DeviceSlots::find_ranges(const Slot& slot, std::vector<CopyRange>& ranges) const {
  const std::vector<Storage>& storages = pipeline_->layout.storages;
  ranges.clear();
  const auto add = [&ranges](int64_t offset, int64_t bytes) {
    if (bytes == 0) return;
    if (!ranges.empty() && offset - (ranges.back().offset + ranges.back().bytes) < kMergedGapBytes) {
      ranges.back().bytes = offset + bytes - ranges.back().offset;
    } else {
      ranges.push_back({offset, bytes});
    }
  };
  // As they lie in the slot.
  const auto add_storages = [&](bool shares) {
    for (size_t s = 0; s < storages.size(); ++s) {
      if (storages[s].has_shares() == shares) add(storages[s].offset, slot.used_bytes(s));
    }
  };
  add_storages(false);
  if (resident_ != nullptr)
    add(pipeline_->layout.indices_offset, slot.samples * static_cast<int64_t>(sizeof(int64_t)));
  add_storages(true);
}

Status DeviceSlots::send(Slot& slot) {
  Place& place = places_[static_cast<size_t>(slot.number)];
  find_ranges(slot, place.ranges);
  for (TailCall& call : place.calls) call.rows = slot.samples;
  DL_RETURN_IF_ERROR(place.slot->send(slot.memory(), place.ranges, place.calls));
  int64_t bytes = 0;
  for (const CopyRange& range : place.ranges) bytes += range.bytes;
  copied_bytes_.fetch_add(bytes, std::memory_order_relaxed);
  return Status::ok();
}

Result<std::unique_ptr<DeviceSlot>> DeviceSlots::copy(const Slot& slot) {
  return device_->copy_slot(at(slot.number), pipeline_->layout.device_bytes);
}

void DeviceSlots::clear() noexcept {
  places_.clear();
  resident_.reset();
}

}  // namespace dataline
