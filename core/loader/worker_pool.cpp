// SPDX-License-Identifier: Apache-2.0
#include "core/loader/worker_pool.h"

#include <algorithm>
#include <string>
#include <utility>

#include "core/base/text.h"
#include "core/loader/config/workers.h"
#include "core/memory/machine_limits.h"

namespace dataline {
namespace {

// How long stop() waits for a worker that is inside a read of the host's.
constexpr int64_t kStuckReaderGraceNs = 1'000'000'000;

bool is_past(int64_t deadline_ns) { return deadline_ns != kForever && monotonic_ns() >= deadline_ns; }

}  // namespace

// --- Life ---

void WorkerPool::add(std::unique_ptr<WorkerScratch> scratch) {
  const int32_t thread = scratch->thread;
  FillThread fill{.own = {.thread = thread}, .scratch = std::move(scratch)};
  if (thread == config_.num_workers) {
    ThreadLock lock(consumer_mutex_);
    consumer_ = std::move(fill);
    return;
  }
  const int64_t cpus = config_.num_workers > 1 ? std::max(available_cpus() - 1, 1) : 1;
  workers_.push_back(std::make_unique<Worker>());
  workers_.back()->fill = std::move(fill);
  workers_.back()->number = thread;
  count_.store(static_cast<int64_t>(workers_.size()));
  active_.store(count());
  workers_.back()->surplus = thread >= cpus;
}

Status WorkerPool::start(const std::shared_ptr<void>& owner, int64_t least) {
  for (size_t w = 0; w < workers_.size(); ++w) {
    alive_.fetch_add(1);  // before it runs, so that stop() never misses it
    Worker* worker = workers_[w].get();
    Result<Thread> thread = Thread::start(
        concat("dataline-", w), [this, owner, worker] { run(*worker); }, config_.threads,
        static_cast<int32_t>(w));
    if (!thread.is_ok()) {
      alive_.fetch_sub(1);
      for (size_t n = w; n < workers_.size(); ++n) workers_[n]->done.store(true);
      refused_ = refusal(w, thread.take_status());
      if (static_cast<int64_t>(w) < least) return refused_;
      count_.store(static_cast<int64_t>(w));
      active_.store(std::min(active_.load(), count()));
      return Status::ok();
    }
    worker->thread = thread.take();
  }
  return Status::ok();
}

Status WorkerPool::refusal(size_t worker, const Status& failure) const {
  const std::string limits = thread_limits();
  return error(failure.code(), "worker ", worker + 1, " of ", workers_.size(), ": ", failure.message(),
               limits.empty() ? "" : "; limits: ", limits,
               "; lower num_workers (0 needs no thread), or raise the limit")
      .with_os_error(failure.os_error());
}

int64_t WorkerPool::stop() noexcept {
  stopping_.store(true);
  work_.notify_all();
  surplus_work_.notify_all();
  parked_.notify_all();
  for (auto& worker : workers_) {
    if (!worker->thread.withdraw()) continue;  // a pool of the host's never came to it
    alive_.fetch_sub(1);
    worker->done.store(true);
  }
  const bool may_hang = pipeline_.calls_host;
  if (may_hang) retired_.wait(monotonic_ns() + kStuckReaderGraceNs, [&] { return alive_.load() == 0; });
  int64_t left_behind = 0;
  ThreadLock lock(joining_mutex_);
  for (auto& worker : workers_) {
    if (may_hang && !worker->done.load()) {
      worker->thread.detach();  // it holds the owner, and with it all that it uses
      ++left_behind;
    } else {
      worker->thread.join();
    }
  }
  return left_behind;
}

void WorkerPool::forget() noexcept {
  for (auto& worker : workers_) worker->thread.forget();
}

int64_t WorkerPool::cpu_ns() const {
  ThreadLock lock(joining_mutex_);
  int64_t total = 0;
  for (const auto& worker : workers_) {
    total += worker->done.load() ? worker->cpu_ns.load() : worker->thread.cpu_ns();
  }
  return total;
}

void WorkerPool::notify() {
  work_.notify_all();
  if (surplus_may_work()) surplus_work_.notify_all();
}

// Whoever sleeps at a place that is not its own any more is woken there, and goes to the other.
void WorkerPool::set_active(int64_t count) {
  active_.store(std::clamp<int64_t>(count, 1, this->count()));
  parked_.notify_all();
  work_.notify_all();
  surplus_work_.notify_all();
}

// The runs that are left of the batches that this worker opened are the others', who are told at once: else they would
// sleep until the consumer runs short.
void WorkerPool::park(Worker& worker) {
  if (window_.claimable() || delivery_.needs_worker()) notify();
  worker.fill.scratch->watch->begin_wait(stage::kParked);
  parked_.wait(kForever, [&] { return !parked(worker) || stopping_.load(); });
  worker.fill.scratch->watch->enter(stage::kOutside);
}

// What a consumer waits for comes first; slots that drain can wait until there is nothing else to do.
void WorkerPool::run(Worker& worker) {
  WaitPoint& work = worker.surplus ? surplus_work_ : work_;
  const auto may_work = [&] { return !worker.surplus || surplus_may_work(); };
  const int64_t cpu_before_ns = thread_cpu_ns();  // a thread of the host's has a past
  worker.key.store(this_thread_key(), std::memory_order_relaxed);
  ConsumerPace pace;
  Stopwatch& watch = *worker.fill.scratch->watch;
  watch.begin_thread();
  {
    const DeviceThread here = delivery_.thread();
    while (!stopping_.load()) {
      BatchWindow::Claim claim;
      if (parked(worker)) {
        park(worker);
        continue;
      }
      if (delivery_.copy_wanted() && finish_copies()) continue;
      if (may_work() && window_.claim(worker.fill.own, claim)) {
        fill(claim, worker.fill);
      } else if (!delivery_.needs_worker() || !finish_copies()) {
        if (delivery_.lost())
          gate_.refresh_handle();  // found by whoever looked for a slot, under the window's lock
        if (watch.times() != nullptr)
          watch.begin_wait(may_work() ? window_.idle_reason() : int32_t{stage::kParked});
        // One beyond the CPUs is woken when it may work: waking by itself it would only take a CPU from the others.
        work.wait(may_work() ? pace.wake_at(window_.head(), window_.depth()) : kForever, [&] {
          return (window_.claimable() && may_work()) || delivery_.needs_worker() || parked(worker) ||
                 stopping_.load();
        });
        watch.enter(stage::kOutside);
      }
    }
  }
  watch.end_thread();
  worker.key.store(0, std::memory_order_relaxed);
  worker.cpu_ns.store(thread_cpu_ns() - cpu_before_ns);
  worker.done.store(true);
  alive_.fetch_sub(1);
  retired_.notify_all();
}

// --- Filling ---

void WorkerPool::fill(const BatchWindow::Claim& claim, FillThread& thread) {
  if (claim.run != 0 || workers_.empty()) return fill_run(claim, *thread.scratch);
  const int64_t begin_ns = monotonic_ns();
  fill_run(claim, *thread.scratch);
  runs_.add(monotonic_ns() - begin_ns);
}

// Runs of abandoned batches are counted, not filled.
void WorkerPool::fill_run(const BatchWindow::Claim& claim, WorkerScratch& scratch) {
  BatchInFlight& batch = *claim.batch;
  Slot& slot = *batch.slot;
  const int64_t sequence = slot.sequence;
  if (!window_.abandoned(sequence)) filler_.fill(slot, batch.order, claim.run, scratch);
  if (!BatchWindow::finish_run(batch)) return;
  scratch.enter(stage::kPack);  // until finish() has packed
  if (!window_.abandoned(sequence)) filler_.recheck(slot, batch.order, scratch);
  BatchWindow::release_place(batch);  // `batch` may be another one from here on
  finish(slot, sequence, scratch);
}

void WorkerPool::finish(Slot& slot, int64_t sequence, WorkerScratch& scratch) {
  {
    const StageScope packing(*scratch.watch, stage::kPack);
    if (!window_.abandoned(sequence)) filler_.pack(slot, scratch);
  }
  if (!window_.advance(slot, SlotState::kFilling, SlotState::kStaged)) return;
  bool complete = true;
  if (!window_.abandoned(sequence) && !slot.lost.load()) {
    const StageScope sending(*scratch.watch, delivery_.to_device() ? stage::kSend : stage::kOutside);
    try {
      complete = delivery_.send(slot, sequence);
    } catch (...) {
      slot.lost.store(true);  // as in Filler::fill()
    }
  }
  // Either this sees that the batch was abandoned, or the restart, which says so before it looks, finds it listed.
  if (!complete && window_.abandoned(sequence)) complete = delivery_.take_copying(sequence);
  if (complete) return ready(slot, sequence);
  if (delivery_.needs_worker()) notify();
}

void WorkerPool::ready(Slot& slot, int64_t sequence) {
  if (window_.ready(slot, sequence)) return;
  notify();
  gate_.wake();
}

// Waits for copies that somebody waits for. False: nobody does.
bool WorkerPool::finish_copies() {
  const Delivery::Finished finished = delivery_.finish_copies();
  if (finished.batch != nullptr) {
    ready(*finished.batch, finished.sequence);
  } else if (finished.any) {
    if (finished.drained != nullptr) window_.add_free(*finished.drained);
    gate_.refresh_handle();
    notify();
    gate_.wake();
  }
  return finished.any;
}

// --- Consumers ---

bool WorkerPool::may_help() const {
  return workers_.empty() || (runs_.short_runs() && pipeline_.consumer_fills(count()));
}

bool WorkerPool::happened(const Change& change) const {
  if (gate_.events() != change.events || gate_.cancelled()) return true;
  if (change.for_lease) return false;
  const bool ready =
      change.slot != nullptr ? change.slot->state() == SlotState::kReady : window_.opened() > change.head;
  // Looked at last: whoever takes the batch moves the head first (Loader::deliver), so that one of the two shows it. Another
  // consumer took it, or a seek abandoned it.
  return ready || window_.head() != change.head;
}

bool WorkerPool::wait_for(const Change& change, int64_t deadline_ns) {
  if (change.for_lease || !may_help() || !consumer_mutex_.try_lock()) {
    // With num_workers=0 the consumer that helps may sleep, having found nothing open.
    if (workers_.empty()) gate_.batch_ready();
    gate_.wait(deadline_ns, [&] { return happened(change); });
    return false;
  }
  consumer_key_.store(this_thread_key(), std::memory_order_relaxed);
  help(change, change.work_to_end ? kForever : deadline_ns);
  consumer_key_.store(0, std::memory_order_relaxed);
  consumer_mutex_.unlock();
  // With num_workers=0 another consumer may wait for what this one has left undone.
  if (workers_.empty() && window_.claimable()) gate_.wake();
  return true;
}

// Relaxed: a thread finds what it has stored itself, and no other one has its key.
bool WorkerPool::fills_here() const {
  const uintptr_t key = this_thread_key();
  return consumer_key_.load(std::memory_order_relaxed) == key ||
         std::any_of(workers_.begin(), workers_.end(), [key](const std::unique_ptr<Worker>& worker) {
           return worker->key.load(std::memory_order_relaxed) == key;
         });
}

// The core that would spin does the work it waits for. The deadline is looked at after a run: however small the budget of
// Loader::work() is, it gets on.
void WorkerPool::help(const Change& change, int64_t deadline_ns) {
  bool helping = true;
  while (!happened(change)) {
    if (helping && window_.claimable()) {
      helping = fill_runs(change, deadline_ns);
    } else {
      if (helping && delivery_.needs_worker())
        notify();  // a slot's copies have to be waited for, which is a worker's to do
      gate_.wait(deadline_ns, [&] { return happened(change) || (helping && window_.claimable()); });
    }
    if (is_past(deadline_ns)) break;
  }
}

// False: runs have become too long to help with.
bool WorkerPool::fill_runs(const Change& change, int64_t deadline_ns) {
  const DeviceThread here = delivery_.thread();
  for (BatchWindow::Claim claim; window_.claim(consumer_.own, claim);) {
    fill(claim, consumer_);
    if (!may_help()) return false;
    if (happened(change) || is_past(deadline_ns)) break;
  }
  return true;
}

}  // namespace dataline
