// SPDX-License-Identifier: Apache-2.0
#include "core/loader/batch_window.h"

#include <algorithm>
#include <utility>

#include "core/base/thread.h"
#include "core/loader/metrics/stopwatch.h"

namespace dataline {

BatchWindow::BatchWindow(const Steps& steps, EpochTables& tables, Delivery& delivery, ConsumerGate& gate,
                         const Setup& setup, std::vector<std::unique_ptr<Slot>> slots, Position start,
                         std::shared_ptr<const OrderVersions> orders)
    : steps_(steps),
      tables_(tables),
      delivery_(delivery),
      gate_(gate),
      setup_(setup),
      slots_(std::move(slots)),
      places_(slots_.size()),
      orders_(std::move(orders)),
      base_(start),
      depth_(setup.depth) {
  for (auto slot = slots_.rbegin(); slot != slots_.rend(); ++slot) free_.push_back(slot->get());
}

// --- Opening ---

Position BatchWindow::position_of(int64_t sequence) const {
  const int64_t linear = base_.step + (sequence - base_sequence_);
  return {base_.epoch + linear / steps_.count(), linear % steps_.count()};
}

bool BatchWindow::may_open() const {
  return opened() - head() < depth() && steps_.count() > 0 && !closed_.load();
}

// Opens the next batch, whose first `runs_taken` runs are the caller's. Otherwise room_ says that nobody need try again.
// An obstacle that goes away between the try and that is seen by the second try, or room_ is set after it.
bool BatchWindow::open(int32_t thread, int64_t runs_taken) {
  if (try_open(thread, runs_taken)) return true;
  room_.store(false);
  if (!try_open(thread, runs_taken)) return false;
  room_.store(true);
  return true;
}

void BatchWindow::set_depth(int64_t depth) {
  depth_.store(depth);
  make_room();
}

void BatchWindow::make_room() {
  if (!room_.load()) room_.store(true);
}

// What stands in the way: the window is full, there is no free slot, the epochs are over, or a batch that a seek left
// behind is still being filled in the same place or from the same order table.
bool BatchWindow::try_open(int32_t thread, int64_t runs_taken) {
  if (!may_open()) return false;
  if (free_.empty()) {
    while (Slot* drained = delivery_.take_drained()) {
      if (advance(*drained, SlotState::kDraining, SlotState::kFree)) free_.push_back(drained);
    }
    starved_ = free_.empty();
    if (starved_) return false;
  }
  if (delivery_.lost()) {
    // The device may still read the slots: none is filled again, and whoever waits for a batch is told.
    gate_.wake();
    return false;
  }
  const int64_t sequence = opened();
  const Position at = position_of(sequence);
  if (setup_.epochs > 0 && at.epoch >= setup_.epochs) return false;
  BatchInFlight& batch = place(sequence);
  // Acquire: pairs with release_place(); whoever filled the place's last batch does not read it any more.
  if (batch.runs_left.load(std::memory_order_acquire) != 0) return false;
  if (!reserve_table(batch, at.epoch)) return false;
  const std::shared_ptr<const Order>& order = orders_->of(at.epoch).order;
  if (batch.order.order != order) batch.order.order = order;

  Slot& slot = *take_free_slot(thread);
  if (!advance(slot, SlotState::kFree, SlotState::kFilling)) return false;
  const StepRange range = steps_.step(at.epoch, at.step);
  slot.open(at.epoch, at.step, range.first_slot, range.rows, range.valid, range.group);
  slot.sequence = sequence;
  slot.opened_ns = monotonic_ns();
  batch.slot = &slot;
  batch.runs_left.store(setup_.runs_per_batch, std::memory_order_relaxed);  // published by claims.open()
  batch.claims.open(setup_.runs_per_batch, runs_taken);
  opened_.store(sequence + 1, std::memory_order_release);
  return true;
}

bool BatchWindow::reserve_table(BatchInFlight& batch, int64_t epoch) {
  if (!tables_.used()) return true;
  for (BatchInFlight& other : places_) {
    if (!other.holds_table || other.runs_left.load(std::memory_order_acquire) != 0) continue;
    tables_.release(other.order.table);
    other.holds_table = false;
  }
  const bool another_follows = setup_.epochs == 0 || epoch + 1 < setup_.epochs;
  EpochTables::Entry* table = tables_.reserve(epoch, another_follows);
  if (table == nullptr) return false;
  batch.order.table = table;
  batch.holds_table = true;
  return true;
}

// The slot given back last among those that this thread filled before, else the one given back last.
Slot* BatchWindow::take_free_slot(int32_t thread) {
  auto taken =
      std::find_if(free_.rbegin(), free_.rend(), [&](const Slot* slot) { return slot->filled_by == thread; });
  if (taken == free_.rend()) taken = free_.rbegin();
  Slot* slot = *taken;
  free_.erase(taken.base() - 1);
  slot->filled_by = thread;
  return slot;
}

bool BatchWindow::open_head(int32_t thread) {
  ThreadLock lock(mutex_);
  return open(thread, 0);
}

// --- Claiming ---

bool BatchWindow::claimable() const {
  if (setup_.open_ahead && room_.load()) return true;
  return claim_from_.load(std::memory_order_relaxed) < opened();
}

int32_t BatchWindow::idle_reason() const {
  int64_t ready = 0, free = 0, draining = 0;
  for (const auto& slot : slots_) {
    const SlotState state = slot->state();
    ready += state == SlotState::kReady ? 1 : 0;
    free += state == SlotState::kFree ? 1 : 0;
    draining += state == SlotState::kDraining ? 1 : 0;
  }
  if (opened() - head() >= depth()) return ready >= depth() ? stage::kNoRoom : stage::kNoWork;
  return free == 0 && draining > 0 ? stage::kDevice : stage::kNoWork;
}

bool BatchWindow::claim(Opened& own, Claim& claim) {
  if (claim_own(own, claim)) return true;
  if (setup_.share_batches) return claim_any(RunClaims::End::kFront, claim) || open_own(own, claim);
  return open_own(own, claim) || claim_any(RunClaims::End::kBack, claim);
}

// The place of a sequence may hold a later batch by now, which is open too: a run of that is as good. So in claim_any().
bool BatchWindow::claim_own(Opened& own, Claim& claim) {
  for (; own.begin < own.end; ++own.begin) {
    claim.batch = &place(own.begin);
    claim.run = claim.batch->claims.claim(RunClaims::End::kFront);
    if (claim.run >= 0) return true;
  }
  return false;
}

// Small batches are opened several at a time: the lock, and its way from core to core, take longer than such a batch.
bool BatchWindow::open_own(Opened& own, Claim& claim) {
  if (!setup_.open_ahead || !room_.load()) return false;
  ThreadLock lock(mutex_);
  if (!open(own.thread, 1)) return false;
  own.begin = opened() - 1;
  claim.batch = &place(own.begin);
  claim.run = 0;
  for (int64_t more = 1; more < setup_.opened_at_once && open(own.thread, 0); ++more) {
  }
  own.end = opened();
  return true;
}

bool BatchWindow::claim_any(RunClaims::End end, Claim& claim) {
  // Relaxed, here and in claimable(): a hint that only saves looking at batches without a run left.
  int64_t sequence = claim_from_.load(std::memory_order_relaxed);
  for (; sequence < opened(); ++sequence) {
    claim.batch = &place(sequence);
    claim.run = claim.batch->claims.claim(end);
    if (claim.run >= 0) return true;
    int64_t expected = sequence;
    claim_from_.compare_exchange_strong(expected, sequence + 1, std::memory_order_relaxed);
  }
  return false;
}

// --- Filled ---

// Acquire-release: the last filler sees the rows of all others, and passes them on through the slot's state. It does not
// count itself out before it has settled the batch, for which the place, and with it the order, must still be this one's.
bool BatchWindow::finish_run(BatchInFlight& batch) {
  int64_t left = batch.runs_left.load(std::memory_order_acquire);
  while (left > 1) {
    if (batch.runs_left.compare_exchange_weak(left, left - 1, std::memory_order_acq_rel,
                                              std::memory_order_acquire))
      return false;
  }
  return true;
}

// From Ready on the slot is not the caller's: it may be lent, or dropped by a seek and opened for a later batch, before
// the next line runs. What is left to do concerns the batch `sequence`, and touches the slot under mutex_ alone.
bool BatchWindow::ready(Slot& slot, int64_t sequence) {
  if (!advance(slot, slot.state(), SlotState::kReady)) return true;
  // Either this sees that the batch was abandoned, or restart(), which says so before it looks, sees it Ready.
  if (abandoned(sequence)) {
    ThreadLock lock(mutex_);
    drop(slot, sequence);
    return false;
  }
  // Either this sees that the head has come to the batch, or the consumer, which moves the head before it looks, sees it
  // Ready. Where one has taken it already, others may still sleep for it.
  if (sequence <= head()) gate_.batch_ready();
  gate_.refresh_handle();
  return true;
}

// Gives back the memory of an abandoned batch that is Ready, unless that was done and the slot is another batch's now.
void BatchWindow::drop(Slot& slot, int64_t sequence) {
  if (slot.sequence != sequence || slot.state() != SlotState::kReady) return;
  if (advance(slot, SlotState::kReady, SlotState::kDraining)) drain(slot);
}

void BatchWindow::drain(Slot& slot) {
  if (delivery_.release(slot) && advance(slot, SlotState::kDraining, SlotState::kFree))
    free_.push_back(&slot);
  make_room();
}

bool BatchWindow::give_back(Slot& slot) {
  ThreadLock lock(mutex_);
  drain(slot);
  return std::exchange(starved_, false);
}

void BatchWindow::add_free(Slot& slot) {
  ThreadLock lock(mutex_);
  if (!advance(slot, SlotState::kDraining, SlotState::kFree)) return;
  free_.push_back(&slot);
  make_room();
}

// --- The head ---

Slot* BatchWindow::head_slot() { return opened() > head() ? place(head()).slot : nullptr; }

void BatchWindow::pass_head() {
  head_.store(head() + 1);  // before anybody looks at the next batch's state: see ready()
  make_room();
}

bool BatchWindow::enough_ready() {
  const int64_t end = opened();
  int64_t count = 0;
  for (int64_t sequence = head(); sequence < end; ++sequence) {
    if (place(sequence).slot->state() != SlotState::kReady) return false;
    if (++count > (depth() + 2) / 4) return true;
  }
  return false;
}

// Batches that are Ready, or complete but for their copies, are dropped here; the others by whoever finishes them.
void BatchWindow::restart(Position to) {
  ThreadLock lock(mutex_);
  const int64_t end = opened();
  // Before the states are looked at: a filler makes its batch Ready, and then looks here.
  abandoned_below_.store(end);
  for (int64_t sequence = head(); sequence < end; ++sequence) {
    Slot& slot = *place(sequence).slot;
    if (slot.state() == SlotState::kCopying && delivery_.take_copying(sequence) &&
        !advance(slot, SlotState::kCopying, SlotState::kReady))
      continue;
    drop(slot, sequence);
  }
  head_.store(end);
  base_ = to;
  base_sequence_ = end;
  make_room();
}

// --- Orders ---

bool BatchWindow::set_orders(std::shared_ptr<const OrderVersions> orders, int64_t from_epoch) {
  ThreadLock lock(mutex_);
  orders_ = std::move(orders);
  // A place keeps its order until it is used again: those of batches that are filled are let go.
  for (BatchInFlight& batch : places_) {
    if (batch.runs_left.load(std::memory_order_acquire) == 0) batch.order.order.reset();
  }
  return opened() > head() && position_of(opened() - 1).epoch >= from_epoch;
}

void BatchWindow::drop_orders() {
  ThreadLock lock(mutex_);
  orders_.reset();
  for (BatchInFlight& batch : places_) batch.order.order.reset();
}

// --- States ---

bool BatchWindow::advance(Slot& slot, SlotState from, SlotState to) {
  if (slot.go(from, to)) return true;
  note_defect();
  return false;
}

// Consumers that wait for a batch that may never come are told at once.
void BatchWindow::note_defect() {
  defect_.store(true);
  gate_.wake();
}

int64_t BatchWindow::ready_count() const {
  return std::count_if(slots_.begin(), slots_.end(),
                       [](const auto& slot) { return slot->state() == SlotState::kReady; });
}

}  // namespace dataline
