// Batches on a device: sending a full slot, the time until its copies are done, and slots that wait for that before
// they can be filled again. Nobody waits on the host but workers that have nothing else to do, and what next() does
// itself with num_workers=0.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "core/loader/loader.h"
#include "core/loader/overflow.h"
#include "core/loader/resident.h"

namespace dataline {

// The slots are not in use yet, so they stage what the device is to hold.
Status Loader::upload() {
  const std::span staging(arena_.data() + plan_.slots_offset,
                          static_cast<size_t>(plan_.slot_count * plan_.slot_stride));
  DL_RETURN_IF_ERROR(upload_resident(pipeline_, config_, token_.get(), staging, *helper_.scratch, *memory_,
                                     *device_slots_.resident()));
  device_slots_.count_copied(pipeline_.source->count() * pipeline_.resident->row_bytes);
  std::fill(staging.begin(), staging.end(), std::byte{0});
  return Status::ok();
}

// False: with device_sync=host a worker or the consumer takes it on from copying_, and it may be gone by now.
bool Loader::send(Slot& slot, int64_t sequence) {
  if (sequence < abandoned_below_.load() || slot.lost.load()) return true;
  try {
    slot.failed = device_slots_.send(slot);
  } catch (...) {
    slot.lost.store(true);  // as in fill_run()
    return true;
  }
  if (config_.device_sync == DeviceSync::kStream || !slot.failed.is_ok()) return true;
  if (workers_.empty()) {
    slot.failed = device_slots_.at(slot.number).wait_sent();
    return true;
  }
  std::lock_guard lock(mutex_);
  if (sequence < abandoned_below_.load()) return true;
  copying_.push_back(&slot);  // room was reserved at create
  await_head_copy();
  return false;
}

// Has a worker wait for the copies of the batch that the consumer gets next, if nothing else is missing.
void Loader::await_head_copy() {
  if (copying_.empty()) return;
  const Slot* head = head_slot();
  if (head == nullptr || std::find(copying_.begin(), copying_.end(), head) == copying_.end()) return;
  copy_awaited_.store(true);
  work_.notify_all();
  surplus_work_.notify_all();
}

// Whether the head batch was complete but for its copies, and those are done.
bool Loader::take_copied(Slot& slot) {
  const auto found = std::find(copying_.begin(), copying_.end(), &slot);
  if (found == copying_.end()) return false;
  if (!device_slots_.at(slot.number).sent()) {
    await_head_copy();
    return false;
  }
  copying_.erase(found);
  if (device_->lost()) slot.failed = lost_error();
  return advance(slot, SlotState::kCopying, SlotState::kReady);
}

// The slot whose copies somebody needs: the consumer's next batch, else the oldest that drains if nothing else is left
// to be filled. Null: nobody needs any.
Slot* Loader::take_needed() {
  copy_awaited_.store(false);
  const auto head = std::find(copying_.begin(), copying_.end(), head_slot());
  const bool drain = head == copying_.end() && starved_.exchange(false) && !draining_.empty();
  if (head == copying_.end() && !drain) return nullptr;
  std::vector<Slot*>& from = drain ? draining_ : copying_;
  const auto taken = drain ? draining_.begin() : head;
  Slot* slot = *taken;
  from.erase(taken);
  return slot;
}

// Waits for copies that somebody needs. False: nobody does.
bool Loader::settle() {
  std::unique_lock lock(mutex_);
  Slot* const needed = take_needed();
  if (needed == nullptr) return false;
  // Off its list it is this thread's, whatever a seek does: its batch stays, and so does its state.
  Slot& slot = *needed;
  const int64_t sequence = slot.sequence;
  lock.unlock();

  Status status = device_slots_.at(slot.number).wait_sent();
  if (slot.state() == SlotState::kCopying) {
    slot.failed = std::move(status);
    become_ready(slot, sequence, SlotState::kCopying);
    return true;
  }
  lock.lock();
  drained(slot, std::move(status));
  update_event();
  lock.unlock();
  publish();
  wake_consumers();
  return true;
}

// A slot whose copies are done can be filled again. When that cannot be told, next() says why, and it is tried again.
void Loader::drained(Slot& slot, Status status) {
  if (status.is_ok() || device_->lost()) {
    if (!advance(slot, SlotState::kDraining, SlotState::kFree)) return;
    free_slots_.push_back(&slot);
    make_room();
  } else {
    draining_.push_back(&slot);
    drain_error_ = std::move(status);
  }
}

// Takes in the slots whose copies are done by now. False: there is none to be filled, and if some are on their way,
// a worker is asked to wait for them.
bool Loader::free_drained() {
  std::erase_if(draining_, [this](Slot* slot) {
    if (!device_slots_.at(slot->number).sent()) return false;
    if (advance(*slot, SlotState::kDraining, SlotState::kFree)) free_slots_.push_back(slot);
    return true;
  });
  if (!free_slots_.empty()) return true;
  if (!draining_.empty() && drain_error_.is_ok()) starved_.store(true);
  return false;
}

// With num_workers=0 the consumer waits itself. False: there is nothing to wait for.
bool Loader::wait_for_drained(std::unique_lock<ThreadMutex>& lock) {
  if (draining_.empty()) return false;
  Slot& slot = *draining_.front();
  draining_.erase(draining_.begin());
  lock.unlock();
  Status status = device_slots_.at(slot.number).wait_sent();
  lock.lock();
  drained(slot, std::move(status));
  wake_consumers();
  return true;
}

// After a seek: complete but for their copies, they become Ready for nobody.
void Loader::abandon_copies() {
  for (Slot* slot : copying_) {
    if (advance(*slot, SlotState::kCopying, SlotState::kReady)) drop_ready(*slot, slot->sequence);
  }
  copying_.clear();
}

// A loss stays; anything else is told once, and the next call loads the batch again.
Status Loader::send_failed(Slot& slot) {
  if (slot.failed.code() == Code::kDeviceLost) return slot.failed;
  Status status = std::move(slot.failed).in(concat("step ", slot.step, ": sending it to the device"));
  jump(position_);
  return status;
}

Status Loader::lost_error() const {
  return error(Code::kDeviceLost, "device ", config_.device,
               " is lost after an error of its driver: this loader can only be destroyed");
}

DeviceSlot& Loader::device_slot(Batch& batch) {
  return batch.in_slot ? device_slots_.at(static_cast<Slot&>(batch).number)
                       : *static_cast<OverflowBatch&>(batch).device;
}

Status Loader::wait(Batch& batch, void* stream) {
  if (forked()) return forked_error();
  return device_slot(batch).wait(stream);
}

Status Loader::done(Batch& batch, void* stream) {
  if (forked()) return forked_error();
  return device_slot(batch).release(stream);
}

}  // namespace dataline
