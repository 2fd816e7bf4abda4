// SPDX-License-Identifier: Apache-2.0
#include "core/loader/overflow.h"

#include <cstring>
#include <exception>
#include <utility>
#include <vector>

#include "core/base/checked.h"
#include "core/loader/loader.h"

namespace dataline {
namespace {

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

}  // namespace

Result<std::unique_ptr<OverflowBatch>> copy_batch(Slot& slot, const Pipeline& pipeline, HostMemory& memory,
                                                  DeviceSlots& device_slots) {
  DL_ASSIGN_OR_RETURN(Block block, memory.allocate(host_bytes(slot), kTensorAlignment, MemoryKind::kOverflow,
                                                   "a batch beyond max_leases"));
  auto copy = std::make_unique<OverflowBatch>(pipeline.outputs, std::move(block));
  if (slot.on_device) {
    DL_ASSIGN_OR_RETURN(copy->device, device_slots.copy(slot));
  }

  Pieces pieces(copy->memory.data());
  const std::vector<Storage>& storages = pipeline.layout.storages;
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
  for (size_t f = 0; f < pipeline.outputs.size(); ++f) {
    const OutputField& output = pipeline.outputs[f];
    if (output.region >= 0) {
      const Region& region = pipeline.layout.regions[static_cast<size_t>(output.region)];
      copy->views.place(f, copy->device->memory() + region.offset, nullptr);
    } else {
      copy->views.place(f, data[static_cast<size_t>(output.storage)],
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

// Without mutex_; the slot is leased by this consumer. `held`: batches out by then, for the error.
Status Loader::copy_out(Slot& slot, int64_t held, std::unique_ptr<OverflowBatch>& out) {
  Result<std::unique_ptr<OverflowBatch>> copy = copy_batch(slot, pipeline_, *memory_, device_slots_);
  if (copy.is_ok()) {
    out = copy.take();
    return Status::ok();
  }
  if (copy.status().code() != Code::kOverBudget) return copy.take_status();
  return error(Code::kLeasesHeld, held, " batches are held, and a copy beyond max_leases (",
               config_.max_leases, ") does not fit memory_budget (", config_.budget_bytes,
               "); release batches, or raise one of them");
}

// A batch beyond max_leases. With lease_overflow=copy the mutex is given up while memory is found and filled: nobody
// else may take, free or refill the slot meanwhile, because this consumer leases it (Leased belongs to its holder, a
// seek passes it by), and the head stays where it is, so that other consumers wait for this batch as for one that is
// being loaded. A seek meanwhile leaves the batch behind; the slot then comes back from here.
Loader::Delivery Loader::deliver_copy(std::unique_lock<ThreadMutex>& lock, Slot& slot, Batch** out) {
  using enum Delivery::Outcome;
  if (config_.lease_overflow == LeaseOverflow::kWait) return {kWaitForLease};
  if (config_.lease_overflow == LeaseOverflow::kError) {
    return {kReturn, error(Code::kLeasesHeld, leases_held_,
                           " batches are held; release one, or raise max_leases (", config_.max_leases, ")")};
  }
  if (!advance(slot, SlotState::kReady, SlotState::kLeased)) return {kLookAgain};
  const int64_t sequence = slot.sequence, held = batches_out_;
  lock.unlock();
  std::unique_ptr<OverflowBatch> batch;
  std::exception_ptr thrown;  // bad_alloc
  Status status;
  try {
    status = copy_out(slot, held, batch);
  } catch (...) {
    thrown = std::current_exception();
  }
  lock.lock();

  const bool left_behind = sequence < abandoned_below_.load();
  if (!left_behind && batch == nullptr) {
    if (!advance(slot, SlotState::kLeased, SlotState::kReady)) return {kLookAgain};
    update_event();
    wake_consumers();  // those who found it leased
    if (thrown != nullptr) std::rethrow_exception(thrown);
    return {kReturn, std::move(status)};
  }
  if (!advance(slot, SlotState::kLeased, SlotState::kDraining)) return {kLookAgain};
  if (!left_behind) {
    pass_step(slot);
    ++ledger_.lease_copies;
    count_batch(*batch, slot.delivered_bytes());
  }
  free_slot(slot);  // only under mutex_ it is opened again: what is read of it above is still this batch's
  head_moved();
  wake_consumers();
  if (left_behind) {
    publish();  // the slot may be what the batch that was sought has waited for
    return {kLookAgain};
  }
  batch->lend(shared_from_this());
  *out = batch.release();
  return {kReturn, Status::ok()};
}

}  // namespace dataline
