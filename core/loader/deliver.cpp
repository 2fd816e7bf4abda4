// From Ready to the consumer and back: next, leases, bad rows, the wait handle.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "core/base/checked.h"
#include "core/loader/loader.h"

namespace dataline {
namespace {

int64_t deadline_after(int64_t timeout_ns) {
  if (timeout_ns < 0) return kForever;
  return checked_add(monotonic_ns(), timeout_ns).value_or(kForever);
}

}  // namespace

Status Loader::next(int64_t timeout_ns, Batch** out) {
  *out = nullptr;
  if (forked()) return forked_error();
  const uint32_t interrupts = interrupts_.load();
  std::unique_lock lock(mutex_);
  int64_t deadline_ns = 0;  // not read from the clock until there is something to wait for
  bool waited = false;
  for (;;) {
    if (cancelled()) return {Code::kCancelled, ""};
    if (defect_.load()) return defect_error();
    if (on_device_ && device_->lost()) return lost_error();
    if (on_device_ && !drain_error_.is_ok()) return std::exchange(drain_error_, Status::ok());
    if (ended()) return {Code::kEnd, ""};
    if (position_.step == steps_.count()) return end_of_epoch();

    Awaited awaited = Awaited::kBatch;
    Slot* slot = head_slot();
    if (slot != nullptr && (slot->state() == SlotState::kReady || (on_device_ && take_copied(*slot)))) {
      Delivery delivery = deliver(lock, *slot, out);
      if (delivery.outcome == Delivery::Outcome::kReturn) {
        count_hunger(waited);
        const bool wake = !workers_.empty() && !enough_ready();
        lock.unlock();
        if (wake) publish();
        return std::move(delivery.status);
      }
      if (delivery.outcome == Delivery::Outcome::kLookAgain) continue;
      awaited = Awaited::kLease;
    } else if (workers_.empty() && slot == nullptr) {  // nothing is opened ahead
      if (!open_one(helper_.scratch->thread(), 0) && on_device_ &&
          (device_->lost() || wait_for_drained(lock)))
        continue;
    }
    if (interrupts_.load() != interrupts) return {Code::kInterrupted, ""};
    if (workers_.empty() && awaited == Awaited::kBatch) {
      wait_for_change(lock, awaited, kForever, interrupts);  // which does the work itself
      continue;
    }
    if (timeout_ns == 0) return {Code::kTimeout, ""};
    if (deadline_ns == 0) {
      deadline_ns = deadline_after(timeout_ns);
    } else if (deadline_ns != kForever && monotonic_ns() >= deadline_ns) {
      return {Code::kTimeout, ""};
    }
    wait_for_change(lock, awaited, deadline_ns, interrupts);
    waited = true;
  }
}

// The next batch to deliver if it is open, in whatever state.
Slot* Loader::head_slot() {
  return opened_.load(std::memory_order_relaxed) > head_ ? flight(head_).slot : nullptr;
}

bool Loader::happened(const Change& change) const {
  if (events_.load() != change.events || cancelled() || interrupts_.load() != change.interrupts) return true;
  if (change.awaited == Awaited::kLease) return false;
  if (head_hint_.load() != change.head) return true;  // another consumer took it, or a seek left it behind
  if (change.slot != nullptr) return change.slot->state() == SlotState::kReady;
  return opened_.load(std::memory_order_acquire) > change.head;
}

void Loader::wait_for_change(std::unique_lock<ThreadMutex>& lock, Awaited awaited, int64_t deadline_ns,
                             uint32_t interrupts) {
  const Change change{awaited, head_, head_slot(), events_.load(), interrupts};
  const bool alone = workers_.empty();  // then this is work, not waiting, and needs no clock
  const int64_t begin_ns = alone ? 0 : monotonic_ns();
  lock.unlock();
  std::unique_lock helper(helper_mutex_, std::defer_lock);
  bool helping = awaited == Awaited::kBatch && may_help() && helper.try_lock();
  // With num_workers=0 the consumer that helps may sleep, having found nothing open.
  if (alone && !helping) ready_.notify_all();
  for (bool met = true; met && !happened(change);) {
    helping = helping && help_until(deadline_ns, change);
    met = ready_.wait(deadline_ns, [&] { return happened(change) || (helping && claimable()); });
  }
  if (helper.owns_lock()) {
    helper.unlock();
    // With num_workers=0 another consumer may wait for what this one has left undone.
    if (alone && claimable()) wake_consumers();
  }
  lock.lock();
  if (alone) return;
  ledger_.wait_ns += monotonic_ns() - begin_ns;
  ++ledger_.waits;
}

Status Loader::end_of_epoch() {
  ledger_.dropped += steps_.dropped();
  position_ = {position_.epoch + 1, 0};
  update_event();
  return {Code::kEndOfEpoch, ""};
}

Loader::Delivery Loader::deliver(std::unique_lock<ThreadMutex>& lock, Slot& slot, Batch** out) {
  using enum Delivery::Outcome;
  if (!holds_or_stop(slot.sequence == head_)) {
    note_defect();
    return {kLookAgain};
  }
  if (slot.lost.load()) return {kReturn, refill(slot)};
  if (!slot.failed.is_ok()) return {kReturn, send_failed(slot)};
  const bool has_bad_rows = !slot.bad_rows().empty();
  if (has_bad_rows) {
    Status owed = tell_bad_rows(slot);
    if (!owed.is_ok()) return {kReturn, std::move(owed)};
  }
  if (has_bad_rows && slot.samples == 0) {  // nothing is left of the step: it is passed
    if (!advance(slot, SlotState::kReady, SlotState::kDraining)) return {kLookAgain};
    pass_step(slot);
    free_slot(slot);
    head_moved();
    publish();
    return {kLookAgain};
  }
  if (leases_held_ >= config_.max_leases) return deliver_copy(lock, slot, out);

  if (!advance(slot, SlotState::kReady, SlotState::kLeased)) return {kLookAgain};
  pass_step(slot);
  count_batch(slot, slot.delivered_bytes());
  ++leases_held_;
  head_moved();
  slot.lend(shared_from_this());
  *out = &slot;
  return {kReturn, Status::ok()};
}

// The step of a batch that goes out, or has nothing left to go out, is behind; its bad rows enter the books now and no
// sooner: what is not passed may be left behind and loaded again.
void Loader::pass_step(Slot& slot) {
  for (const BadRow& row : slot.bad_rows()) ledger_.replaced += row.replacement >= 0 && !row.pad ? 1 : 0;
  ledger_.skipped += slot.skipped;
  if (slot.samples > 0) ledger_.warned += slot.warned.load();
  ++head_;
  head_hint_.store(head_);  // before the next look at its state: see become_ready()
  ++position_.step;
  fresh_ = false;
  told_.reset();
}

void Loader::count_batch(const Batch& batch, int64_t bytes) {
  ++ledger_.batches;
  ledger_.samples += batch.valid;
  ledger_.padded += batch.samples - batch.valid;
  ledger_.bytes += bytes;
  ++batches_out_;
}

void Loader::head_moved() {
  if (on_device_) await_head_copy();
  make_room();
  update_event();
}

// The machine fell short while the batch was filled: tells of what, and fills it again. Nothing was booked.
Status Loader::refill(Slot& slot) {
  const Status& why = slot.lost_cause;
  Status told =
      error(why.is_ok() ? Code::kNoMemory : why.code(), "step ", position_.step, ": ",
            why.is_ok() ? "memory ran out" : std::string_view(why.message()), "; the next call tries again")
          .with_os_error(why.os_error())
          .with_sample(why.sample_index());
  jump(position_);
  return told;
}

// Those that wait for something other than that the head batch becomes Ready.
void Loader::wake_consumers() {
  events_.fetch_add(1);
  ready_.notify_all();
}

// The error that next() owes for the bad rows of the head batch; ok when the batch can go out. What was told is kept by
// position: the same step may lie in another slot when it is asked for again.
Status Loader::tell_bad_rows(Slot& slot) {
  const bool too_many = !ledger_.book_bad_rows(slot, config_.max_bad);
  if (too_many) {
    return error(Code::kTooManyBad, "step ", slot.step, ": ", ledger_.bad.size(),
                 " distinct samples are bad, max_bad is ", config_.max_bad, "; the last: sample ",
                 ledger_.bad.back().index, ": ", ledger_.bad.back().message)
        .with_sample(ledger_.bad.back().index);
  }
  const std::vector<BadRow>& rows = slot.bad_rows();
  const bool all_replaced =
      std::all_of(rows.begin(), rows.end(), [](const BadRow& row) { return row.replacement >= 0; });
  if (all_replaced || told_ == position_) return Status::ok();
  Status status = bad_step_error(slot, rows);
  told_ = position_;
  return status;
}

void Loader::recycle(Batch& batch) noexcept {
  if (forked()) return;  // the slot, its lock, its workers and the driver are the parent's
  if (on_device_) device_slot(batch).done();
  std::unique_lock lock(mutex_);
  --batches_out_;
  if (!batch.in_slot) {
    lock.unlock();
    delete static_cast<OverflowBatch*>(&batch);
    return;
  }
  Slot& slot = static_cast<Slot&>(batch);
  if (advance(slot, SlotState::kLeased, SlotState::kDraining)) free_slot(slot);
  --leases_held_;
  const bool someone_may_wait = config_.lease_overflow == LeaseOverflow::kWait || head_slot() == nullptr;
  const bool news = !workers_.empty() && (may_open() || starved_.load());
  update_event();
  lock.unlock();
  if (news) publish();
  if (someone_may_wait) wake_consumers();
}

bool Loader::would_wait() {
  if (workers_.empty() || cancelled() || ended() || position_.step == steps_.count()) return false;
  if (on_device_ && device_->lost()) return false;
  if (config_.lease_overflow == LeaseOverflow::kWait && leases_held_ >= config_.max_leases) return true;
  Slot* slot = head_slot();
  return slot == nullptr || slot->state() != SlotState::kReady;
}

// Lowers before it looks: a cancel or a finished batch that comes in between raises it again.
void Loader::update_event() {
  if (!event_) return;
  event_->lower();
  if (!would_wait()) event_->raise();
}

Result<intptr_t> Loader::wait_handle() {
  if (forked()) return forked_error();
  std::lock_guard lock(mutex_);
  if (!event_) {
    DL_ASSIGN_OR_RETURN(ThreadEvent event, ThreadEvent::create());
    event_.emplace(std::move(event));
    has_event_.store(true);
    update_event();
  }
  return event_->handle();
}

}  // namespace dataline
