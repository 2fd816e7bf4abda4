// The batches in flight: opening, claiming, filling, abandoning.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "core/loader/loader.h"

namespace dataline {

Position Loader::position_of(int64_t sequence) const {
  const int64_t linear = base_.step + (sequence - base_sequence_);
  return {base_.epoch + linear / steps_.count(), linear % steps_.count()};
}

// With num_workers=0 nothing is opened ahead: fill_inline() opens what it fills.
void Loader::open_more() {
  if (steps_.count() == 0 || workers_.empty() || stopping_.load()) return;
  while (open_one()) {
  }
}

// Opens the next batch if the window, a slot, and its epoch's table allow it. Otherwise whoever takes the obstacle
// away calls open_more() again. Large batches are opened no sooner than a worker needs one (one each keeps all of them
// busy, whatever a slow sample does), so that the slot given back last, still in cache, is filled next.
bool Loader::open_one() {
  // Relaxed: only changed under mutex_, which is held.
  const int64_t sequence = opened_.load(std::memory_order_relaxed);
  const int64_t depth = workers_.empty() ? 1 : config_.prefetch_depth;
  if (sequence - head_ >= depth || free_slots_.empty() || filling_.load() >= filling_limit_) return false;
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
  auto version = std::find_if(orders_.rbegin(), orders_.rend() - 1,
                              [&](const OrderVersion& v) { return v.from_epoch <= at.epoch; });
  if (place.order.order != version->order) place.order.order = version->order;

  Slot& slot = *free_slots_.back();
  free_slots_.pop_back();
  slot.go(SlotState::kFree, SlotState::kFilling);
  const StepRange range = steps_.step(at.step);
  slot.open(at.epoch, at.step, range.first_slot, range.rows, range.valid);
  slot.sequence = sequence;
  place.slot = &slot;
  filling_.fetch_add(1);
  place.runs_left.store(runs_per_batch_, std::memory_order_relaxed);
  // Release: pairs with the acquire in work(); a worker that sees the batch open sees its place filled in.
  opened_.store(sequence + 1, std::memory_order_release);
  return true;
}

void Loader::publish() { work_.notify_all(); }

// Whether waking sleeping workers can wait. A wake costs the consumer a system call, and perhaps its CPU, so workers
// sleep on while more than half of the window is Ready; the rest hides the wake.
bool Loader::enough_ready() {
  const int64_t opened = opened_.load(std::memory_order_relaxed);  // only changed under mutex_
  int64_t ready_count = 0;
  for (int64_t sequence = head_; sequence < opened; ++sequence) {
    if (flight(sequence).slot->state() != SlotState::kReady) return false;
    if (++ready_count > config_.prefetch_depth / 2) return true;
  }
  return false;
}

// Leaves every undelivered batch behind. Ready ones are free at once, the others when their workers are out.
void Loader::abandon_all() {
  const int64_t opened = opened_.load(std::memory_order_relaxed);  // only changed under mutex_
  for (int64_t sequence = head_; sequence < opened; ++sequence) {
    Slot& slot = *flight(sequence).slot;
    slot.abandoned.store(true);
    if (slot.go(SlotState::kReady, SlotState::kDraining)) free_slot(slot);
  }
  head_ = opened;
  head_hint_.store(head_);
}

void Loader::free_slot(Slot& slot) {
  slot.go(SlotState::kDraining, SlotState::kFree);
  free_slots_.push_back(&slot);  // room was reserved at create
}

void Loader::fill_run(InFlight& place, int64_t run, WorkerScratch& scratch) {
  Slot& slot = *place.slot;
  const int64_t row = run * pipeline_.run_records;
  const int64_t count = std::min(slot.samples - row, pipeline_.run_records);
  if (count > 0 && !slot.abandoned.load(std::memory_order_relaxed)) {  // relaxed: only saves work
    try {
      filler_->fill(slot, place.order, row, count, scratch);
    } catch (...) {
      // Only bad_alloc can come here. The batch is told as lost, and filled again by the next call.
      slot.lost.store(true);
    }
  }
  // Acquire-release: the last worker sees the rows of all others, and passes them on through the slot's state.
  if (place.runs_left.fetch_sub(1, std::memory_order_acq_rel) == 1) finish(place, slot);
}

void Loader::finish(InFlight& place, Slot& slot) {
  static_cast<void>(place);  // may hold another batch from here on
  const int64_t sequence = slot.sequence;
  if (!slot.abandoned.load() && !slot.lost.load()) slot.finish();
  slot.go(SlotState::kFilling, SlotState::kStaged);
  slot.go(SlotState::kStaged, SlotState::kReady);
  filling_.fetch_sub(1);
  // The slot may be lent, recycled and opened again by now; only its atomics may be touched.
  if (slot.abandoned.load()) {
    std::unique_lock lock(mutex_);
    if (slot.go(SlotState::kReady, SlotState::kDraining)) free_slot(slot);
    open_more();
    lock.unlock();
    publish();
    events_.fetch_add(1);
    ready_.notify_all();
    return;
  }
  // Either this sees that the consumer wants this batch, or the consumer, which names what it wants before it looks,
  // sees the state.
  if (sequence == head_hint_.load()) ready_.notify_all();
  if (!opens_on_finish_ && !has_event_.load()) return;
  std::unique_lock lock(mutex_);
  open_more();
  update_event();
  lock.unlock();
  publish();
}

void Loader::work(Worker& worker) {
  while (!stopping_.load()) {
    // Relaxed: a ticket is only a number; what it stands for is published through opened_.
    const int64_t ticket = next_ticket_.fetch_add(1, std::memory_order_relaxed);
    const int64_t sequence = ticket / runs_per_batch_;
    work_.wait(kForever,
               [&] { return opened_.load(std::memory_order_acquire) > sequence || stopping_.load(); });
    if (stopping_.load()) break;
    fill_run(flight(sequence), ticket % runs_per_batch_, *worker.scratch);
  }
  worker.cpu_ns.store(thread_cpu_ns());
  worker.done.store(true);
  workers_alive_.fetch_sub(1);
  retired_.notify_all();
}

// num_workers=0: the caller loads the head batch itself. Another thread may cancel or seek meanwhile.
void Loader::fill_inline(std::unique_lock<ThreadMutex>& lock) {
  if (opened_.load(std::memory_order_relaxed) == head_ && !open_one()) return;
  const int64_t sequence = opened_.load(std::memory_order_relaxed) - 1;
  InFlight& place = flight(sequence);
  Slot& slot = *place.slot;
  lock.unlock();
  bool stopped = false;
  for (int64_t run = 0; run < runs_per_batch_; ++run) {
    if (!stopped && cancelled()) {
      stopped = true;
      slot.abandoned.store(true);  // the runs left do nothing, the last one frees the slot
    }
    fill_run(place, run, *inline_scratch_);
  }
  lock.lock();
  if (stopped && head_ == sequence) jump(position_);
}

}  // namespace dataline
