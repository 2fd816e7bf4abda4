// Batches that the consumer holds: those beyond max_leases, and their way back.
// SPDX-License-Identifier: Apache-2.0
#include <exception>
#include <utility>

#include "core/loader/config.h"
#include "core/loader/loader.h"

namespace dataline {

bool Loader::all_leased() const {
  return slots_leased_.load() >= arena_.plan().lease_slots && leases() >= config_->window.max_leases;
}

// Without mutex_; the slot is leased by this consumer. `held`: batches out by then, for the error.
Status Loader::copy_out(Slot& slot, int64_t held, std::unique_ptr<OverflowBatch>& out) {
  Result<std::unique_ptr<OverflowBatch>> copy = delivery_->copy(slot, *memory_);
  if (copy.is_ok()) {
    out = copy.take();
    return Status::ok();
  }
  if (copy.status().code() != Code::kOverBudget) return copy.take_status();
  return error(Code::kLeasesHeld, held, " batches are held, and a copy beyond max_leases (",
               config_->window.max_leases, ") does not fit into memory_budget (",
               config_->memory.budget_bytes, "); release batches, or raise one of them");
}

// With lease_overflow=copy the mutex is given up while memory is found and filled: nobody else may take, free or refill
// the slot meanwhile, because this consumer leases it, and the head stays where it is, so that other consumers wait for
// this batch as for one that is being loaded. A seek meanwhile abandons the batch; the slot then comes back from here. If
// the consumer's loop ends meanwhile and the batch is not abandoned, it belongs to the next consumer.
Loader::Delivered Loader::deliver_copy(Slot& slot, Batch** out, const EpochLoop* loop) {
  using enum Delivered::Outcome;
  // Leases beyond the slots that the plan has for them are copies, whatever lease_overflow is.
  // Read once: a batch that is released meanwhile must not turn a wait for its lease into a copy beside it.
  const int64_t slots = slots_leased_.load();
  if (slots < arena_.plan().lease_slots) return {kLookAgain};
  const bool overflows = slots + copies_leased_.load() >= config_->window.max_leases;
  if (overflows && config_->window.lease_overflow == LeaseOverflow::kWait) return {kWaitForLease};
  if (overflows && config_->window.lease_overflow == LeaseOverflow::kError) {
    return {kReturn,
            error(Code::kLeasesHeld, leases(), " batches are held; release one, or raise max_leases (",
                  config_->window.max_leases, ")")};
  }
  if (!window_->advance(slot, SlotState::kReady, SlotState::kLeased)) return {kLookAgain};
  const int64_t sequence = slot.sequence, held = leases();
  mutex_.unlock();
  std::unique_ptr<OverflowBatch> batch;
  std::exception_ptr thrown;  // bad_alloc
  Status status;
  try {
    status = copy_out(slot, held, batch);
  } catch (...) {
    thrown = std::current_exception();
  }
  mutex_.lock();

  const bool abandoned = window_->abandoned(sequence);
  const bool loop_over = loop != nullptr && loop->state != EpochLoop::State::kCurrent;
  if (!abandoned && (loop_over || batch == nullptr)) {
    if (!window_->advance(slot, SlotState::kLeased, SlotState::kReady)) return {kLookAgain};
    update_handle();
    gate_.wake();  // those who found it leased
    if (loop_over) return {kLookAgain};
    if (thrown != nullptr) std::rethrow_exception(thrown);
    return {kReturn, std::move(status)};
  }
  if (!window_->advance(slot, SlotState::kLeased, SlotState::kDraining)) return {kLookAgain};
  if (!abandoned) {
    pass_step(slot);
    ++ledger_.lease_copies;
    copies_leased_.fetch_add(1);
    count_batch(*batch, slot.delivered_bytes());
  }
  window_->give_back(slot);
  head_moved();
  gate_.wake();
  if (abandoned) {
    pool_->notify();  // the slot may be what the batch that was sought has waited for
    return {kLookAgain};
  }
  batch->lend(shared_from_this());
  *out = batch.release();
  return {kReturn};
}

// Without mutex_: what a consumer waits for that this may change is looked at by it once more after wake().
void Loader::recycle(Batch& batch) noexcept {
  if (forked()) return;  // the slot, its lock, its workers and the driver are the parent's
  delivery_->last_release(batch);
  if (SpanSink* trace = metrics_->trace(); trace != nullptr)
    trace->add_release(monotonic_ns(), {batch.epoch, batch.step});
  if (!batch.in_slot) {
    delivery_->give_up(std::unique_ptr<OverflowBatch>(static_cast<OverflowBatch*>(&batch)));
    copies_leased_.fetch_sub(1);
    if (config_->window.lease_overflow != LeaseOverflow::kWait) return;
    gate_.refresh_handle();
    gate_.wake();
    return;
  }
  Slot& slot = static_cast<Slot&>(batch);
  if (!window_->advance(slot, SlotState::kLeased, SlotState::kDraining)) return;
  // Who waits for room in the window is told by next(), which makes it; here only who found no slot.
  const bool missed = window_->give_back(slot);
  slots_leased_.fetch_sub(1);
  gate_.refresh_handle();
  if (missed || delivery_->needs_worker()) pool_->notify();
  if (missed || config_->window.lease_overflow == LeaseOverflow::kWait) gate_.wake();
  tell_of_loss();
}

Status Loader::wait(Batch& batch, void* stream) {
  if (forked()) return forked_error();
  Status status = delivery_->wait(batch, stream);
  tell_of_loss();
  return status;
}

void Loader::passed_on(Batch& batch) noexcept {
  if (!forked()) delivery_->passed_on(batch);
}

Status Loader::done(Batch& batch, void* stream) {
  if (forked()) return forked_error();
  Status status = delivery_->done(batch, stream);
  tell_of_loss();
  return status;
}

// A loss that this caller found. Who waits, in next() or at the wait handle, is told now, though the workers may be in a read that
// takes long. Without mutex_.
void Loader::tell_of_loss() noexcept {
  if (!delivery_->lost()) return;
  gate_.refresh_handle();
  gate_.wake();
}

}  // namespace dataline
