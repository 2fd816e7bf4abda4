// Filling the batches in flight: claims, a worker's life, a consumer that helps.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "core/loader/loader.h"

namespace dataline {
namespace {

// Runs longer than this are left to the workers: a consumer's deadline may be late by one run.
constexpr int64_t kHelpRunNs = 50'000;
constexpr double kLongestGuessNs = 1e15;

}  // namespace

void Loader::fill_run(InFlight& place, int64_t run, WorkerScratch& scratch) {
  Slot& slot = *place.slot;
  const int64_t row = run * pipeline_.run_records;
  const int64_t count = std::min(slot.samples - row, pipeline_.run_records);
  // Relaxed: only saves work.
  if (count > 0 && slot.sequence >= abandoned_below_.load(std::memory_order_relaxed)) {
    try {
      filler_->fill(slot, place.order, row, count, scratch);
    } catch (...) {
      // Only bad_alloc can come here. The batch is told as lost, and filled again by the next call.
      slot.lost.store(true);
    }
  }
  // Acquire-release: the last worker sees the rows of all others, and passes them on through the slot's state. It counts
  // itself out only when it has settled the batch, for which the place, and with it the order, must still be this one's.
  int64_t left = place.runs_left.load(std::memory_order_acquire);
  while (left > 1) {
    if (place.runs_left.compare_exchange_weak(left, left - 1, std::memory_order_acq_rel,
                                              std::memory_order_acquire))
      return;
  }
  settle(place, scratch);
  place.runs_left.store(0, std::memory_order_release);
  finish(slot, scratch);
}

// All rows are copied: whether the files still hold what was copied.
void Loader::settle(InFlight& place, WorkerScratch& scratch) {
  Slot& slot = *place.slot;
  if (slot.sequence < abandoned_below_.load() || slot.lost.load()) return;
  try {
    filler_->settle(slot, place.order, scratch);
  } catch (...) {
    slot.lost.store(true);  // as in fill_run()
  }
}

// The batch's place in window_ may hold another batch by now.
void Loader::finish(Slot& slot, WorkerScratch& scratch) {
  const int64_t sequence = slot.sequence;
  pack(slot, scratch);
  if (!advance(slot, SlotState::kFilling, SlotState::kStaged)) return;
  if (!on_device_) return become_ready(slot, sequence, SlotState::kStaged);
  if (!advance(slot, SlotState::kStaged, SlotState::kCopying)) return;
  if (send(slot, sequence)) become_ready(slot, sequence, SlotState::kCopying);
}

void Loader::pack(Slot& slot, WorkerScratch& scratch) {
  if (slot.sequence < abandoned_below_.load() || slot.lost.load()) return;
  try {
    if (!slot.finish()) {
      return slot.lose(
          error(Code::kOverBudget, "its packed rows do not fit memory_budget (", config_.budget_bytes,
                ") beside what is held; raise it, or lower batch_size, prefetch_depth or max_leases"));
    }
    filler_->name_misfits(slot);
    slot.drop_bad_rows();
    filler_->mix(slot, scratch);
  } catch (...) {
    slot.lost.store(true);  // as in fill_run()
  }
}

// From Ready on the slot is not this thread's: it may be lent, or freed by a seek, and opened for a later batch, before
// the next line runs. What is left to do is about the batch `sequence`, and touches the slot under mutex_ alone, where
// the sequence says whose it is.
void Loader::become_ready(Slot& slot, int64_t sequence, SlotState from) {
  if (!advance(slot, from, SlotState::kReady)) return;
  // Either this sees that a seek left the batch behind, or the seek, which says so before it looks, sees it Ready.
  if (sequence < abandoned_below_.load()) {
    std::unique_lock lock(mutex_);
    drop_ready(slot, sequence);
    lock.unlock();
    publish();
    wake_consumers();
    return;
  }
  // Either this sees that the consumer wants this batch, or the consumer, which names what it wants before it looks,
  // sees the state.
  if (sequence == head_hint_.load()) ready_.notify_all();
  if (!has_event_.load()) return;
  std::lock_guard lock(mutex_);
  update_event();
}

bool Loader::claimable() const {
  if (room_.load() && !workers_.empty()) return true;
  // Relaxed: a hint; claim() looks for itself.
  return claim_from_.load(std::memory_order_relaxed) < opened_.load(std::memory_order_acquire);
}

// Takes a run, if an open batch has one left or one can be opened. Nobody holds a run it does not fill: a sleeping
// worker delays no batch. Rows that take long are shared among all, so that the consumer's batch is ready soon. Others
// are copied faster than a core fetches the lines of a slot from another core's cache: each thread opens a batch of its
// own as long as the window allows it (784-byte rows, two cores: 1.4 times as many rows as with batches shared), and
// joins others' batches then.
bool Loader::claim(FillThread& thread, Claim& claim) {
  if (claim_own(thread, claim)) return true;
  const bool share = workers_.empty() || pipeline_.shares_batches();
  if (share) return claim_any(RunClaims::End::kFront, claim) || open_own(thread, claim);
  return open_own(thread, claim) || claim_any(RunClaims::End::kBack, claim);
}

// What is found at a sequence's place is open, even if it is a later batch's by now: here and below.
bool Loader::claim_own(FillThread& thread, Claim& claim) {
  for (; thread.own < thread.own_end; ++thread.own) {
    claim.place = &flight(thread.own);
    claim.run = claim.place->claims.claim(RunClaims::End::kFront);
    if (claim.run >= 0) return true;
  }
  return false;
}

// Small batches are opened by twos and more: the lock, and its way from core to core, take longer than such a batch.
bool Loader::open_own(FillThread& thread, Claim& claim) {
  if (workers_.empty() || !room_.load()) return false;
  std::unique_lock lock(mutex_);
  if (!open_one(thread.scratch->thread(), 1)) {
    lock.unlock();
    if (starved_.load()) publish();  // a worker has to wait for a slot's copies, and this may be the consumer
    return false;
  }
  thread.own = opened_.load(std::memory_order_relaxed) - 1;
  claim.place = &flight(thread.own);
  claim.run = 0;
  for (int64_t more = 1; more < batches_at_once_ && open_one(thread.scratch->thread(), 0); ++more) {
  }
  thread.own_end = opened_.load(std::memory_order_relaxed);
  return true;
}

bool Loader::claim_any(RunClaims::End end, Claim& claim) {
  // Relaxed: a hint.
  int64_t sequence = claim_from_.load(std::memory_order_relaxed);
  for (; sequence < opened_.load(std::memory_order_acquire); ++sequence) {
    claim.place = &flight(sequence);
    claim.run = claim.place->claims.claim(end);
    if (claim.run >= 0) return true;
    int64_t expected = sequence;
    claim_from_.compare_exchange_strong(expected, sequence + 1, std::memory_order_relaxed);
  }
  return false;
}

void Loader::fill_claimed(const Claim& claim, FillThread& thread) {
  if (claim.run != 0 || workers_.empty()) return fill_run(*claim.place, claim.run, *thread.scratch);
  const int64_t begin_ns = monotonic_ns();
  fill_run(*claim.place, claim.run, *thread.scratch);
  const int64_t took_ns = monotonic_ns() - begin_ns;
  // Relaxed: a hint about the past.
  const int64_t mean_ns = run_ns_.load(std::memory_order_relaxed);
  run_ns_.store(mean_ns == kNotMeasured ? took_ns : mean_ns + (took_ns - mean_ns) / 4,
                std::memory_order_relaxed);
}

// Waking a worker costs the consumer a system call, 8 us in a guest (and the worker is up 40 us later). So a worker
// sleeps only until half of the window will have been taken if the consumer keeps its pace. kForever when it has taken
// nothing since the last time: a consumer that stands still is not looked after.
int64_t Loader::expected_need_ns(Pace& pace) const {
  const int64_t now_ns = monotonic_ns(), head = head_hint_.load();
  const int64_t passed_ns = now_ns - std::exchange(pace.seen_ns, now_ns);
  const int64_t taken = head - std::exchange(pace.seen_head, head);
  const int64_t half = config_.prefetch_depth / 2;
  if (passed_ns == now_ns || taken <= 0 || half == 0) return kForever;
  // Smoothed, because `taken` is a small whole number.
  pace.span_ns += passed_ns - pace.span_ns / 4;
  pace.batches += static_cast<double>(taken) - pace.batches / 4;
  const double need_ns = static_cast<double>(pace.span_ns) * static_cast<double>(half) / pace.batches;
  return now_ns + static_cast<int64_t>(std::min(need_ns, kLongestGuessNs));
}

void Loader::work(Worker& worker) {
  WaitPoint& work = worker.surplus ? surplus_work_ : work_;
  const auto may_work = [&] { return !worker.surplus || surplus_may_work(); };
  Pace pace;
  if (on_device_) device_->enter_thread();
  // What a consumer waits for comes first; slots that drain can wait until there is nothing else to do.
  const auto wanted = [&] { return copy_awaited_.load() || starved_.load(); };
  while (!stopping_.load()) {
    Claim run;
    if (copy_awaited_.load(std::memory_order_relaxed) && settle()) continue;  // relaxed: a hint
    if (may_work() && claim(worker.fill, run)) {
      fill_claimed(run, worker.fill);
    } else if (!wanted() || !settle()) {
      // One that rests is woken when it may work: waking by itself it would only take a CPU from the others.
      work.wait(may_work() ? expected_need_ns(pace) : kForever,
                [&] { return (claimable() && may_work()) || wanted() || stopping_.load(); });
    }
  }
  worker.cpu_ns.store(thread_cpu_ns());
  worker.done.store(true);
  workers_alive_.fetch_sub(1);
  retired_.notify_all();
}

// Whether a waiting consumer fills runs. With num_workers=0 it is the only one who does. Otherwise it helps where a
// run is over sooner than a wait would notice, and never calls the host's reader.
bool Loader::may_help() const {
  if (workers_.empty()) return true;
  return run_ns_.load(std::memory_order_relaxed) <= kHelpRunNs &&
         pipeline_.consumer_fills(static_cast<int64_t>(workers_.size()));
}

// A worker beyond the CPUs would only push others off theirs, each time with a half-filled run; so it rests while the
// consumer helps. The consumer is hungry when more than one batch in nine makes it wait.
void Loader::count_hunger(bool waited) {
  const int32_t hunger = hunger_.load(std::memory_order_relaxed);  // only changed under mutex_
  const int32_t now = waited ? std::min(hunger + 8, kHungerMost) : std::max(hunger - 1, 0);
  if (now != hunger) hunger_.store(now, std::memory_order_relaxed);
}

// Fills runs until the change happens, the deadline passes, or nothing is left to claim: the core that would spin does
// the work it waits for. Returns whether this thread may go on helping.
bool Loader::help_until(int64_t deadline_ns, const Change& change) {
  Claim run;
  while (may_help() && !happened(change)) {
    if (deadline_ns != kForever && monotonic_ns() >= deadline_ns) return true;
    if (!claim(helper_, run)) return true;
    fill_claimed(run, helper_);
  }
  return may_help();
}

}  // namespace dataline
