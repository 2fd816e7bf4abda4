// The threads that fill: workers, and a consumer that helps while it waits. Their life, their sleep, and the way of a run
// from claim to Ready. Workers beyond set_active() are parked: they sleep, and hold no run.
//
// Owns the workers' threads and scratch memory, and the wait points where workers sleep. What they fill belongs to the
// window; a run that is claimed belongs to the thread that claimed it.
// Threads: start, stop: the loader's, once. help: consumers; one helps at a time. Others: any thread.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/base/atomic.h"
#include "core/base/thread.h"
#include "core/base/thread_mutex.h"
#include "core/base/thread_wait.h"
#include "core/loader/batch_window.h"
#include "core/loader/delivery.h"
#include "core/loader/filler.h"
#include "core/loader/pacing.h"

namespace dataline {

struct WorkerConfig;  // core/loader/config/workers.h

class WorkerPool {
 public:
  // What ends a wait of next(), as it was when the wait began.
  struct Change {
    bool for_lease = false;    // else for the batch at the head
    bool work_to_end = false;  // a consumer that fills runs ignores the deadline
    int64_t head = 0;
    const Slot* slot = nullptr;  // of the batch at the head; null while it is not open
    uint32_t events = 0;
  };

  WorkerPool(BatchWindow& window, Filler& filler, Delivery& delivery, ConsumerGate& gate,
             const Pipeline& pipeline, const WorkerConfig& config)
      : window_(window),
        filler_(filler),
        delivery_(delivery),
        gate_(gate),
        pipeline_(pipeline),
        config_(config) {}

  // One per worker, then the consumer's. Before start().
  void add(std::unique_ptr<WorkerScratch> scratch);
  // Each thread holds `owner`. Where the system refuses one beyond `least`, count() is what it gave, and refused() says why;
  // otherwise that is an error, kThread, which names the limits of the machine.
  Status start(const std::shared_ptr<void>& owner, int64_t least);
  const Status& refused() const { return refused_; }
  // Ends the threads. Those stuck in a read of the host's are left behind after a second; returns how many.
  int64_t stop() noexcept;
  void forget() noexcept;  // in a forked child, where the threads do not exist

  int64_t count() const { return count_.load(); }
  int64_t active() const { return active_.load(); }
  // From now on workers [0, count) work, the others are parked as soon as the run that they hold is filled. Any thread.
  void set_active(int64_t count);
  bool empty() const { return workers_.empty(); }
  int64_t cpu_ns() const;  // waits while stop() does: not under the loader's lock, but by a consumer

  // There may be something to fill, or copies to wait for: wakes the workers that may work.
  void notify();
  // The consumer got a batch, after waiting for it or not.
  void count_wait(bool waited) { waits_.add(waited); }
  // By a consumer: until the change or the deadline, fills runs if it may help and waits at the gate otherwise. Returns
  // whether it could help.
  bool wait_for(const Change& change, int64_t deadline_ns);
  // Whether this thread fills a run now: code of the host's that the run calls, a reader's or an operator's, cannot wait for a batch.
  bool fills_here() const;

 private:
  struct FillThread {
    BatchWindow::Opened own;
    std::unique_ptr<WorkerScratch> scratch;
  };
  struct Worker {
    Thread thread;
    FillThread fill;
    int64_t number = 0;
    Atomic<uintptr_t> key{0};  // of its thread, while that runs
    bool surplus = false;      // there is no CPU for it beside the others and a consumer that helps
    Atomic<int64_t> cpu_ns{0};
    Atomic<bool> done{false};
  };

  Status refusal(size_t worker, const Status& failure) const;
  void run(Worker& worker);  // a worker's life
  bool parked(const Worker& worker) const { return worker.number >= active_.load(); }
  void park(Worker& worker);
  // Whether a waiting consumer fills runs: with num_workers=0 always; else where a run is over sooner than a wait would
  // be noticed, and never in the host's reader.
  bool may_help() const;
  bool happened(const Change& change) const;
  void help(const Change& change, int64_t deadline_ns) DL_REQUIRES(consumer_mutex_);
  bool fill_runs(const Change& change, int64_t deadline_ns) DL_REQUIRES(consumer_mutex_);
  // A consumer that waits a lot fills runs on the CPU that a surplus worker would take.
  bool surplus_may_work() const { return !waits_.high() || !may_help(); }
  void fill(const BatchWindow::Claim& claim, FillThread& thread);
  void fill_run(const BatchWindow::Claim& claim, WorkerScratch& scratch);
  void finish(Slot& slot, int64_t sequence, WorkerScratch& scratch);
  void ready(Slot& slot, int64_t sequence);
  bool finish_copies();

  BatchWindow& window_;
  Filler& filler_;
  Delivery& delivery_;
  ConsumerGate& gate_;
  const Pipeline& pipeline_;
  const WorkerConfig& config_;
  std::vector<std::unique_ptr<Worker>> workers_;
  ThreadMutex consumer_mutex_;  // one consumer helps at a time; never waited for
  FillThread consumer_ DL_GUARDED_BY(consumer_mutex_);
  Atomic<uintptr_t> consumer_key_{0};  // of the thread that holds consumer_mutex_
  RunClock runs_;
  WaitShare waits_;
  mutable ThreadMutex joining_mutex_;  // a thread is not asked for its time while it is joined
  Atomic<bool> stopping_{false};
  Atomic<int64_t> alive_{0};
  Atomic<int64_t> count_{0};   // of workers_: those that the system gave a thread
  Status refused_;             // ok: it gave all
  Atomic<int64_t> active_{0};  // 1 to count(), or 0 without workers
  WaitPoint work_;             // workers wait for something to fill
  WaitPoint surplus_work_;     // and those beyond the CPUs, here
  WaitPoint parked_;           // and those that are not wanted
  WaitPoint retired_;          // stop() waits for workers
};

}  // namespace dataline
