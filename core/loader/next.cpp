// next(): waiting for the batch at the head, and from Ready to the consumer. The wait handle.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "core/base/status.h"
#include "core/base/text.h"
#include "core/base/thread.h"
#include "core/loader/config.h"
#include "core/loader/loader.h"
#include "core/source/composed/mix.h"

namespace dataline {
namespace {

Status waits_for_itself() {
  return error(Code::kWrongState,
               "this thread is filling a batch of this loader, in a reader, an operator or ",
               "a storage of the host, and cannot wait for one");
}

}  // namespace

// `call`: told whether a lease was waited for, if it is measured.
Status Loader::take_next(int64_t timeout_ns, Batch** out, EpochLoop* loop, Metrics::Call* call) {
  *out = nullptr;
  if (forked()) return forked_error();
  const bool alone = pool_->empty();
  ThreadLock lock(mutex_);
  int64_t deadline_ns = 0;  // not read from the clock until there is something to wait for
  bool waited = false, worked = false;
  for (;;) {
    WorkerPool::Change change{.events = gate_.events()};  // before anything is looked at
    if (Status status = no_batch_due(loop); !status.is_ok()) return status;

    Slot* slot = window_->head_slot();
    if (slot != nullptr && ready_now(*slot)) {
      Delivered delivered = deliver(*slot, out, loop);
      if (delivered.outcome == Delivered::Outcome::kReturn) {
        pool_->count_wait(waited);
        const std::string said = tuning_->observe(ledger_);
        const bool wake = !alone && !window_->enough_ready();
        lock.unlock();
        if (wake) pool_->notify();
        if (!said.empty()) log_(LogLevel::kInfo, said);
        return std::move(delivered.status);
      }
      if (delivered.outcome == Delivered::Outcome::kLookAgain) continue;
      change.for_lease = true;
      if (call != nullptr) call->for_lease = true;
    } else if (Status held = slot == nullptr ? delivery_->held() : Status::ok(); !held.is_ok()) {
      return held;
    } else if (alone && slot == nullptr && open_head()) {
      continue;
    }
    change.head = window_->head();
    change.slot = window_->head_slot();
    // Without workers this consumer does the work whatever the time-out is, unless another one does it.
    change.work_to_end = alone && !change.for_lease;
    if (timeout_ns == 0 && !change.work_to_end) return {Code::kTimeout, ""};
    if (deadline_ns == 0) {
      deadline_ns = deadline_after(timeout_ns);
    } else if (!worked && deadline_ns != kForever && monotonic_ns() >= deadline_ns) {
      return {Code::kTimeout, ""};
    }
    if (pool_->fills_here()) return waits_for_itself();
    if (!wait_for(change, deadline_ns, loop, &worked)) return {Code::kInterrupted, ""};
    waited = waited || !change.work_to_end;
  }
}

// As next() does the work itself, but no longer than the budget, and what becomes ready is left to next().
Status Loader::work(int64_t budget_ns) {
  if (forked()) return forked_error();
  const bool alone = pool_->empty();
  const int64_t deadline_ns = deadline_after(std::max<int64_t>(budget_ns, 0));
  ThreadLock lock(mutex_);
  for (bool worked = false;; worked = true) {
    WorkerPool::Change change{.events = gate_.events()};
    if (Status status = obstacle(); !status.is_ok()) return status;
    if (gate_.interrupts().take_pending()) {
      update_handle();
      return {Code::kInterrupted, ""};
    }
    if (ended() || position_.step >= steps_.count()) return Status::ok();
    Slot* slot = window_->head_slot();
    if (slot != nullptr && ready_now(*slot)) return Status::ok();
    if (!alone || budget_ns <= 0 || (worked && monotonic_ns() >= deadline_ns)) return {Code::kTimeout, ""};
    if (Status held = slot == nullptr ? delivery_->held() : Status::ok(); !held.is_ok()) return held;
    if (slot == nullptr) static_cast<void>(open_head());
    change.head = window_->head();
    change.slot = window_->head_slot();
    if (pool_->fills_here()) return waits_for_itself();
    if (!wait_for(change, deadline_ns, nullptr, nullptr)) return {Code::kInterrupted, ""};
  }
}

// What ends next() and work() alike. Ok: nothing does.
Status Loader::obstacle() {
  if (gate_.cancelled()) return {Code::kCancelled, ""};
  if (window_->defect()) {
    return error(Code::kInternal,
                 "the memory of a batch is in an unexpected state: a defect of this library; this loader can "
                 "only be destroyed");
  }
  Status failure = delivery_->failure();
  // To wait once more for the slot that did not come back.
  if (!failure.is_ok() && delivery_->needs_worker()) pool_->notify();
  return failure;
}

// What next() returns whether or not a batch is Ready. Ok: a batch is due.
Status Loader::no_batch_due(EpochLoop* loop) {
  if (loop != nullptr) {
    if (loop->interrupts.take_pending()) return {Code::kInterrupted, ""};
    if (loop->state == EpochLoop::State::kFinished) return {Code::kEndOfEpoch, ""};
    if (loop->state == EpochLoop::State::kEnded) {
      return error(Code::kWrongState,
                   "this epoch was ended by a newer one, a seek, a loaded state or the end of its loader");
    }
  }
  Status status = obstacle();
  if (!status.is_ok()) return status;
  if (gate_.interrupts().take_pending()) {
    update_handle();
    return {Code::kInterrupted, ""};
  }
  if (ended()) return {Code::kEnd, ""};
  if (position_.step < steps_.count()) return status;
  pass_epoch();
  return {Code::kEndOfEpoch, ""};
}

bool Loader::ready_now(Slot& slot) {
  if (slot.state() == SlotState::kReady) return true;
  // Not BatchWindow::ready(): nobody else can abandon the batch now. But other consumers may wait for it, and this one may
  // leave it where it is: all leases are held, or it has bad samples to report.
  if (delivery_->take_complete(slot, window_->head())) {
    if (!window_->advance(slot, SlotState::kCopying, SlotState::kReady)) return false;
    gate_.batch_ready();
    update_handle();
    return true;
  }
  if (delivery_->needs_worker()) pool_->notify();
  return false;
}

// num_workers=0: nothing is opened ahead, and nobody else waits for a slot's copies. True: look again.
bool Loader::open_head() {
  const DeviceThread here = delivery_->thread();
  if (window_->open_head(static_cast<int32_t>(config_->workers.num_workers))) return false;
  if (delivery_->lost()) return true;
  mutex_.unlock();
  const Delivery::Finished finished = delivery_->wait_for_drained();
  if (finished.drained != nullptr) window_->add_free(*finished.drained);
  if (finished.any) gate_.wake();
  mutex_.lock();
  return finished.any;
}

// False: interrupted. `worked` (may be null): whether this consumer did the work, to its end.
bool Loader::wait_for(const WorkerPool::Change& change, int64_t deadline_ns, EpochLoop* loop, bool* worked) {
  const bool alone = pool_->empty();  // then this is work, not waiting, and needs no clock
  Interrupts::Wait any(&gate_.interrupts()), own(loop == nullptr ? nullptr : &loop->interrupts);
  if (any.interrupted() || own.interrupted()) return false;
  mutex_.unlock();
  const int64_t begin_ns = alone ? 0 : monotonic_ns();
  const bool helped = pool_->wait_for(change, deadline_ns);
  if (worked != nullptr) *worked = helped && change.work_to_end;
  const int64_t wait_ns = alone ? 0 : monotonic_ns() - begin_ns;
  mutex_.lock();
  ledger_.wait_ns += wait_ns;
  ledger_.waits += alone ? 0 : 1;
  const bool all_interrupted = any.end(), own_interrupted = own.end();
  return !all_interrupted && !own_interrupted;
}

Loader::Delivered Loader::deliver(Slot& slot, Batch** out, const EpochLoop* loop) {
  using enum Delivered::Outcome;
  if (!check_or_trap(slot.sequence == window_->head())) {
    window_->note_defect();
    return {kLookAgain};
  }
  const bool failed = slot.lost.load() || !slot.failed.is_ok(), has_bad_rows = !slot.bad_rows().empty();
  // Perhaps only because the host's reader saw the cancel, after obstacle() looked. A seek abandons the batch.
  if ((failed || has_bad_rows) && gate_.cancelled()) return {kReturn, {Code::kCancelled, ""}};
  if (failed) return {kReturn, report_failed(slot)};
  if (has_bad_rows) {
    Status owed = report_bad_rows(slot);
    if (!owed.is_ok()) return {kReturn, std::move(owed)};
  }
  if (has_bad_rows && slot.samples == 0) {  // nothing is left of the step: it is passed
    pass_step(slot);
    if (!window_->advance(slot, SlotState::kReady, SlotState::kDraining)) return {kLookAgain};
    window_->give_back(slot);
    head_moved();
    pool_->notify();
    return {kLookAgain};
  }
  if (slots_leased_.load() >= arena_.plan().lease_slots) return deliver_copy(slot, out, loop);

  // The head moves first: another consumer that was woken for this batch sees it Ready or the head elsewhere, and never
  // goes back to sleep in between.
  pass_step(slot);
  if (!window_->advance(slot, SlotState::kReady, SlotState::kLeased)) return {kLookAgain};
  count_batch(slot, slot.delivered_bytes());
  slots_leased_.fetch_add(1);
  head_moved();
  slot.lend(shared_from_this());
  *out = &slot;
  return {kReturn};
}

// The step of a batch that goes out, or has nothing left to go out, is behind; its bad rows enter the books now and no
// sooner: what is not passed may be abandoned and loaded again.
void Loader::pass_step(Slot& slot) {
  for (const BadRow& row : slot.bad_rows()) ledger_.replaced += row.replacement >= 0 && !row.pad ? 1 : 0;
  ledger_.skipped += slot.skipped;
  if (slot.samples > 0) ledger_.warned += slot.warned.load();
  window_->pass_head();
  ++position_.step;
  fresh_ = false;
  reported_.reset();
}

void Loader::count_batch(const Batch& batch, int64_t bytes) {
  ++ledger_.batches;
  ledger_.samples += batch.valid;
  ledger_.padded += batch.samples - batch.valid;
  ledger_.bytes += bytes;
  book_.count_parts(batch);
}

void Loader::head_moved() {
  if (delivery_->want(window_->head())) pool_->notify();
  update_handle();
}

// --- What a batch could not be delivered for ---

// The machine fell short while the batch was filled or sent: says of what, and loads it again. Nothing was booked. The
// loss of a device stays.
Status Loader::report_failed(Slot& slot) {
  Status report = slot.failed;
  if (report.code() == Code::kDeviceLost) return report;
  if (slot.lost.load()) {
    const Status& why = slot.lost_cause;
    report = error(why.is_ok() ? Code::kNoMemory : why.code(), "step ", position_.step, ": ",
                   why.is_ok() ? "out of memory" : why.text(), "; the next call retries")
                 .with_os_error(why.os_error())
                 .with_sample(why.sample_index(), why.sample_source());
  } else {
    report = std::move(report).in(concat("step ", slot.step, ": sending it to the device"));
  }
  jump(position_);
  return report;
}

// The error that next() owes for the bad rows of the head batch; ok when the batch can go out. What was reported is kept
// by position: the same step may lie in another slot when it is asked for again.
Status Loader::report_bad_rows(Slot& slot) {
  const bool too_many = !ledger_.book_bad_rows(slot, *pipeline_.source, config_->bad_samples.max_bad);
  if (too_many) {
    const BadSample& last = ledger_.bad.back();
    const Mix* mix = pipeline_.source->facts().mix;
    return error(Code::kTooManyBad, "step ", slot.step, ": ", ledger_.bad.size(),
                 " distinct samples are bad, max_bad is ", config_->bad_samples.max_bad,
                 "; the last: sample ", last.index,
                 mix == nullptr ? std::string() : concat(" of part ", mix->name(last.source)), ": ",
                 last.message)
        .with_sample(last.index, last.source);
  }
  const std::vector<BadRow>& rows = slot.bad_rows();
  const bool all_replaced =
      std::all_of(rows.begin(), rows.end(), [](const BadRow& row) { return row.replacement >= 0; });
  if (all_replaced || reported_ == position_) return Status::ok();
  Status status = bad_step_error(slot, *pipeline_.source, rows);
  reported_ = position_;
  return status;
}

// --- The wait handle ---

bool Loader::would_wait() {
  if (gate_.cancelled() || ended() || position_.step == steps_.count()) return false;
  if (delivery_->lost() || gate_.interrupts().pending()) return false;
  if (config_->window.lease_overflow == LeaseOverflow::kWait && all_leased()) return true;
  if (pool_->empty()) return false;  // next() does the work
  const Slot* slot = window_->head_slot();
  return slot == nullptr || slot->state() != SlotState::kReady;
}

void Loader::update_handle() {
  if (gate_.lower_handle() && !would_wait()) gate_.raise_handle();
}

void Loader::refresh_handle() noexcept {
  ThreadLock lock(mutex_);
  update_handle();
}

Result<intptr_t> Loader::wait_handle() {
  if (forked()) return forked_error();
  ThreadLock lock(mutex_);
  DL_ASSIGN_OR_RETURN(intptr_t handle, gate_.handle());
  update_handle();
  return handle;
}

}  // namespace dataline
