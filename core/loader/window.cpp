// The batches in flight: opening, waking, abandoning.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "core/loader/loader.h"

namespace dataline {

Position Loader::position_of(int64_t sequence) const {
  const int64_t linear = base_.step + (sequence - base_sequence_);
  return {base_.epoch + linear / steps_.count(), linear % steps_.count()};
}

// With num_workers=0 nobody asks while a batch is open: see next().
bool Loader::may_open() const {
  const int64_t ahead = opened_.load(std::memory_order_relaxed) - head_;  // only changed under mutex_
  return ahead < config_.prefetch_depth && steps_.count() > 0 && !stopping_.load();
}

// Opens the next batch, for a thread that fills its first `runs_taken` runs, if the window, a slot, and its epoch's table
// allow it. Otherwise nobody tries again until whoever takes the obstacle away calls make_room(). A batch is opened no
// sooner than a thread has nothing else to fill, so that few slots are in use and those are still in cache.
bool Loader::open_one(int32_t thread, int64_t runs_taken) {
  if (try_open(thread, runs_taken)) return true;
  room_.store(false);
  return false;
}

void Loader::make_room() {
  if (!room_.load(std::memory_order_relaxed)) room_.store(true);  // only changed under mutex_
}

bool Loader::try_open(int32_t thread, int64_t runs_taken) {
  if (!may_open()) return false;
  if (free_slots_.empty() && !free_drained()) return false;
  const int64_t sequence = opened_.load(std::memory_order_relaxed);  // only changed under mutex_
  if (on_device_ && device_->lost()) {
    // It may still read the slots: none is filled again, and whoever waits for a batch is told.
    wake_consumers();
    return false;
  }
  const Position at = position_of(sequence);
  if (config_.epochs > 0 && at.epoch >= config_.epochs) return false;
  InFlight& place = flight(sequence);
  // Acquire: pairs with the last worker's release; the place's old batch is not read any more.
  if (place.runs_left.load(std::memory_order_acquire) != 0) return false;

  if (tables_.used()) {
    for (InFlight& other : window_) {
      if (!other.counted || other.runs_left.load(std::memory_order_acquire) != 0) continue;
      tables_.release(other.order.table);
      other.counted = false;
    }
    const bool another_follows = config_.epochs == 0 || at.epoch + 1 < config_.epochs;
    EpochTables::Entry* table = tables_.reserve(at.epoch, another_follows);
    if (table == nullptr) return false;
    place.order.table = table;
    place.counted = true;
  }
  const std::shared_ptr<const Order>& order = order_of(at.epoch).order;
  if (place.order.order != order) place.order.order = order;

  Slot& slot = *take_free_slot(thread);
  if (!advance(slot, SlotState::kFree, SlotState::kFilling)) return false;
  const StepRange range = steps_.step(at.step);
  slot.open(at.epoch, at.step, range.first_slot, range.rows, range.valid);
  slot.sequence = sequence;
  slot.opened_ns = monotonic_ns();
  place.slot = &slot;
  place.runs_left.store(runs_per_batch_, std::memory_order_relaxed);  // published by open()
  place.claims.open(runs_per_batch_, runs_taken);
  opened_.store(sequence + 1, std::memory_order_release);  // pairs with the acquire in claim_any()
  return true;
}

// The slot given back last of those that this thread filled before, else the one given back last: the warmest memory.
Slot* Loader::take_free_slot(int32_t thread) {
  auto taken = std::find_if(free_slots_.rbegin(), free_slots_.rend(),
                            [&](const Slot* slot) { return slot->filled_by == thread; });
  if (taken == free_slots_.rend()) taken = free_slots_.rbegin();
  Slot* slot = *taken;
  free_slots_.erase(taken.base() - 1);
  slot->filled_by = thread;
  return slot;
}

void Loader::publish() {
  work_.notify_all();
  if (surplus_may_work()) surplus_work_.notify_all();
}

// Whether waking sleeping workers can wait. A wake costs the consumer a system call, and perhaps its CPU, so workers
// sleep on while more than a quarter of the window is Ready; mostly they wake by themselves before that.
bool Loader::enough_ready() {
  const int64_t opened = opened_.load(std::memory_order_relaxed);  // only changed under mutex_
  int64_t ready_count = 0;
  for (int64_t sequence = head_; sequence < opened; ++sequence) {
    if (flight(sequence).slot->state() != SlotState::kReady) return false;
    if (++ready_count > (config_.prefetch_depth + 2) / 4) return true;
  }
  return false;
}

// Leaves every undelivered batch behind. Ready ones are free at once; the others when their last worker, or the
// consumer that copies one out, is done with them: see become_ready() and copy_out().
void Loader::abandon_all() {
  const int64_t opened = opened_.load(std::memory_order_relaxed);  // only changed under mutex_
  // Before the states are looked at: a worker makes its batch Ready, and then looks here.
  abandoned_below_.store(opened);
  for (int64_t sequence = head_; sequence < opened; ++sequence) drop_ready(*flight(sequence).slot, sequence);
  abandon_copies();
  head_ = opened;
  head_hint_.store(head_);
}

// Gives back the memory of a Ready batch that nobody will get, unless its slot is another batch's by now. Ready slots
// change under mutex_ only, so whoever comes first is the only one.
void Loader::drop_ready(Slot& slot, int64_t sequence) {
  if (slot.sequence != sequence || slot.state() != SlotState::kReady) return;
  if (advance(slot, SlotState::kReady, SlotState::kDraining)) free_slot(slot);
}

void Loader::free_slot(Slot& slot) {
  make_room();
  if (on_device_ && !device_slots_.at(slot.number).sent()) {
    draining_.push_back(&slot);  // room was reserved at create, here and below
    return;
  }
  if (advance(slot, SlotState::kDraining, SlotState::kFree)) free_slots_.push_back(&slot);
}

bool Loader::advance(Slot& slot, SlotState from, SlotState to) {
  if (slot.go(from, to)) return true;
  note_defect();
  return false;
}

// Those who wait for a batch that may never come are told at once.
void Loader::note_defect() {
  defect_.store(true);
  wake_consumers();
}

Status Loader::defect_error() {
  return error(Code::kInternal,
               "the memory of a batch was not in the state that it had to be in: a defect of this library; "
               "this loader "
               "can only be destroyed");
}

}  // namespace dataline
