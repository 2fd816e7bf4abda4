// The batches in flight, a ring: opened by the threads that fill them, claimed run by run, taken at the head by the
// consumers.
//
//   head <= batches being filled or Ready < opened            sequence numbers; they only grow
//
// A batch is named by its sequence and never reused; its place in the ring and its memory, a slot, are. A seek leaves
// the undelivered batches behind: abandoned() is true for them from then on, and whoever finishes one gives its slot
// back. No flag that outlives a batch decides anything about it.
//
// Who owns a slot in which state, and who ends it, is a table in core/README.md.
//
// Opening. Where rows take long (decoding, the host's reader) all threads share the batch that the consumer gets next.
// Where they are only copied, each thread opens batches of its own, in the slot that it filled last, and joins another
// thread's batch only when the window is full: a core fetches a slot's lines from another core's cache slower than it
// copies them (784-byte rows, two cores: 1.4 times as many with batches of their own, 2.8 times with slots of their own).
//
// Threads: the functions for fillers, any thread; those for consumers, one thread at a time (the loader's lock).
// Lock order: the loader's lock, mutex_, then Delivery's and EpochTables' own.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/base/atomic.h"
#include "core/base/thread_mutex.h"
#include "core/batch/slot.h"
#include "core/loader/consumer_gate.h"
#include "core/loader/delivery.h"
#include "core/loader/epochs.h"
#include "core/order/steps.h"

namespace dataline {

// Which thread fills which run of a batch. The thread that opened the batch claims runs from the front, threads that join
// it claim from the back, so each stays in its own part of the slot and few cache lines move between cores.
// Threads: internally synchronized. One atomic operation per claim.
class RunClaims {
 public:
  enum class End { kFront, kBack };

  // Makes runs [taken, runs) claimable; earlier ones are the caller's. Release: a thread that claims a run sees everything
  // written before this call.
  void open(int64_t runs, int64_t taken) {
    runs_.store(static_cast<uint32_t>(runs), std::memory_order_relaxed);  // published by the next store
    taken_.store(static_cast<uint64_t>(taken), std::memory_order_release);
  }

  // The claimed run, or -1: there is none left.
  int64_t claim(End end) {
    // Acquire: pairs with open(). A value from an earlier batch is as good: the exchange then fails, or the counts
    // are the same and so is the run.
    uint64_t taken = taken_.load(std::memory_order_acquire);
    for (;;) {
      const uint32_t runs = runs_.load(std::memory_order_relaxed);
      const uint64_t front = taken & kFrontMask, back = taken >> kBackShift;
      if (front + back >= runs) return -1;
      const uint64_t more = end == End::kFront ? 1 : uint64_t{1} << kBackShift;
      if (!taken_.compare_exchange_weak(taken, taken + more, std::memory_order_acquire)) continue;
      return static_cast<int64_t>(end == End::kFront ? front : runs - 1 - back);
    }
  }

 private:
  static constexpr int kBackShift = 32;
  static constexpr uint64_t kFrontMask = 0xffffffff;

  Atomic<uint64_t> taken_{0};  // from the front, and from the back
  Atomic<uint32_t> runs_{0};   // the same in every batch of a loader
};

// A batch that is being filled. Fillers that hold a run of it read everything here without a lock.
struct BatchInFlight {
  RunClaims claims;
  Atomic<int64_t> runs_left{0};  // 0: nobody reads this place any more, and it can be opened again
  Slot* slot = nullptr;
  BatchOrder order;
  bool holds_table = false;  // order.table still counts this place as a user; under the window's lock
};

class BatchWindow {
 public:
  struct Setup {
    int64_t depth = 1;   // batches open at once, to begin with; see set_depth()
    int64_t epochs = 0;  // 0: without end
    int64_t runs_per_batch = 1;
    int64_t opened_at_once = 1;  // batches that one thread opens together; see open_own()
    bool open_ahead = true;      // false: only open_head() opens (num_workers=0)
    bool share_batches = false;  // rows take long; see above
  };
  // A run of a batch. Whoever has claimed one fills it: a thread that sleeps holds none.
  struct Claim {
    BatchInFlight* batch = nullptr;
    int64_t run = 0;
  };
  // The batches that one thread opened last and may not be done with.
  struct Opened {
    int32_t thread = 0;
    int64_t begin = 0, end = 0;
  };

  BatchWindow(const Steps& steps, EpochTables& tables, Delivery& delivery, ConsumerGate& gate,
              const Setup& setup, std::vector<std::unique_ptr<Slot>> slots, Position start,
              std::shared_ptr<const OrderVersions> orders);

  // --- Fillers ---
  // Takes a run if an open batch has one left or a batch can be opened.
  bool claim(Opened& own, Claim& claim) DL_EXCLUDES(mutex_);
  bool claimable() const;  // a hint: claim() looks for itself
  int32_t idle_reason()
      const;  // the stage (metrics/stopwatch.h) of a filler that found nothing to claim; a hint
  bool abandoned(int64_t sequence) const { return sequence < abandoned_below_.load(); }
  // The caller's run is filled. True: it was the last one, the batch is the caller's alone, and release_place() is due.
  static bool finish_run(BatchInFlight& batch);
  static void release_place(BatchInFlight& batch) { batch.runs_left.store(0, std::memory_order_release); }
  // The batch, Staged or Copying and the caller's, can be lent. False: it had been abandoned and its slot is free again,
  // which workers and consumers have to be told.
  bool ready(Slot& slot, int64_t sequence) DL_EXCLUDES(mutex_);

  // --- Consumers ---
  int64_t head() const { return head_.load(); }
  int64_t opened() const { return opened_.load(std::memory_order_acquire); }
  Slot* head_slot();  // the batch to deliver next if it is open, in whatever state
  void pass_head();   // delivered, or nothing of it is left to deliver
  bool open_head(int32_t thread) DL_EXCLUDES(mutex_);  // num_workers=0: nothing is opened ahead
  // Whether workers that sleep can sleep on: more than a quarter of the window is Ready.
  bool enough_ready();
  // Abandons all undelivered batches and goes on from `to`.
  void restart(Position to) DL_EXCLUDES(mutex_);
  // Epochs from `from_epoch` on have other orders now. True: batches of one of them are open, and restart() is due.
  bool set_orders(std::shared_ptr<const OrderVersions> orders, int64_t from_epoch) DL_EXCLUDES(mutex_);

  // --- Any thread ---
  // Draining, no longer read by its consumer. True: somebody found no slot since the last one was given back.
  bool give_back(Slot& slot) DL_EXCLUDES(mutex_);
  void add_free(Slot& slot) DL_EXCLUDES(mutex_);  // Draining, and its copies are done
  // Takes an edge of a slot that the caller owns. False: a defect of this library, which next() reports from now on;
  // the caller leaves the slot alone.
  bool advance(Slot& slot, SlotState from, SlotState to);
  bool defect() const { return defect_.load(); }
  void note_defect();
  void close() { closed_.store(true); }    // nothing is opened any more
  void drop_orders() DL_EXCLUDES(mutex_);  // after close(), once no thread fills
  int64_t ready_count() const;
  // Batches open at once, from now on: at least 1, and no more than there are slots to fill. Whoever sleeps for room
  // has to be told.
  int64_t depth() const { return depth_.load(); }
  void set_depth(int64_t depth);

 private:
  BatchInFlight& place(int64_t sequence) { return places_[static_cast<size_t>(sequence) % places_.size()]; }
  bool claim_own(Opened& own, Claim& claim);
  bool claim_any(RunClaims::End end, Claim& claim);
  bool open_own(Opened& own, Claim& claim) DL_EXCLUDES(mutex_);
  bool open(int32_t thread, int64_t runs_taken) DL_REQUIRES(mutex_);
  bool may_open() const;
  bool try_open(int32_t thread, int64_t runs_taken) DL_REQUIRES(mutex_);
  bool reserve_table(BatchInFlight& batch, int64_t epoch) DL_REQUIRES(mutex_);
  Slot* take_free_slot(int32_t thread) DL_REQUIRES(mutex_);
  void drop(Slot& slot, int64_t sequence) DL_REQUIRES(mutex_);
  void drain(Slot& slot) DL_REQUIRES(mutex_);
  Position position_of(int64_t sequence) const DL_REQUIRES(mutex_);
  void make_room();

  const Steps& steps_;
  EpochTables& tables_;
  Delivery& delivery_;
  ConsumerGate& gate_;
  const Setup setup_;
  const std::vector<std::unique_ptr<Slot>> slots_;
  std::vector<BatchInFlight> places_;  // as many as slots

  mutable ThreadMutex mutex_;
  // Last in, first out: the slot given back last is the warmest memory.
  std::vector<Slot*> free_ DL_GUARDED_BY(mutex_);
  bool starved_ DL_GUARDED_BY(mutex_) = false;  // a batch could not be opened for want of one
  std::shared_ptr<const OrderVersions> orders_ DL_GUARDED_BY(mutex_);
  // The batch with sequence base_sequence_ is step base_.step of epoch base_.epoch.
  Position base_ DL_GUARDED_BY(mutex_);
  int64_t base_sequence_ DL_GUARDED_BY(mutex_) = 0;

  Atomic<int64_t> depth_;
  Atomic<int64_t> head_{0};    // written by consumers
  Atomic<int64_t> opened_{0};  // written under mutex_; release: publishes the place
  Atomic<int64_t> abandoned_below_{0};
  Atomic<int64_t> claim_from_{0};  // batches below it have no run left to claim
  // False: a batch could not be opened, and nothing has changed since. Whoever takes an obstacle away sets it after.
  Atomic<bool> room_{true};
  Atomic<bool> closed_{false}, defect_{false};
};

}  // namespace dataline
