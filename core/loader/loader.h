// The loader: a job's stream of batches. It owns the window of batches in flight, the workers that fill them, the
// position, and the books.
//
//   opened by who fills it -> claimed run by run -> Ready -> next() lends it -> recycled -> opened ...
//
// Batches have sequence numbers that only grow; seek abandons those in flight and goes on with the next number. Runs
// are claimed by one atomic step over all open batches, so a slow sample holds up nobody but its own run. Where rows are
// only copied and converted a thread prefers a batch and a slot of its own, whose lines are in its core's cache; see
// claim(). A consumer that would wait fills runs too, as long as they are short: see help_until(). Slots are reused:
// whoever acts on one that another may own by then names the batch by its sequence, under mutex_ (batch/slot.h).
//
// Threads: next, cancel, interrupt, release: any thread. Lock order: mutex_, then EpochTables' build locks.
// Lifetime: workers and leases hold the loader; stop() ends the workers.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "core/base/cancel.h"
#include "core/base/thread.h"
#include "core/base/thread_event.h"
#include "core/base/thread_mutex.h"
#include "core/base/thread_wait.h"
#include "core/batch/slot.h"
#include "core/device/device.h"
#include "core/loader/config.h"
#include "core/loader/device_slots.h"
#include "core/loader/epoch_tables.h"
#include "core/loader/filler.h"
#include "core/loader/ledger.h"
#include "core/loader/overflow.h"
#include "core/loader/pipeline.h"
#include "core/loader/plan.h"
#include "core/loader/plan_view.h"
#include "core/loader/run_claims.h"
#include "core/loader/steps.h"
#include "core/memory/fork_guard.h"
#include "core/memory/host_memory.h"

namespace dataline {

struct LoaderStats {
  int32_t num_workers = 0;
  LedgerCounters ledger;
  int64_t bad = 0, worker_cpu_ns = 0, arena_bytes = 0, held_bytes = 0, budget_bytes = 0;
  int64_t leases_held = 0, ready_batches = 0, threads_abandoned = 0;
  int64_t pinned_bytes = 0, device_bytes = 0, copied_bytes = 0;
};

class Loader final : public BatchOwner,
                     public CancelToken::Listener,
                     public std::enable_shared_from_this<Loader> {
 public:
  static Result<std::shared_ptr<Loader>> create(SourceRef source, const Options& options);
  ~Loader() override;

  // Each call below returns kForked in a forked child.
  Status next(int64_t timeout_ns, Batch** out);
  Status begin_epoch();
  Status seek(Position to);
  Result<Position> position() const;
  Status set_indices(const int64_t* indices, int64_t count, HostOwner owner);
  Result<std::string> save_state() const;
  Status load_state(std::string_view text);
  Result<intptr_t> wait_handle();
  Result<LoaderStats> stats() const;
  Result<BadSample> bad_sample(int64_t index) const;
  int64_t bad_sample_count() const;

  bool forked() const { return fork_guard_.forked(); }
  static Status forked_error();
  int64_t steps() const { return steps_.count(); }
  const std::vector<BatchView>& fields() const { return schema_views_->views(); }
  const std::vector<PlanStage>& stages() const { return stages_; }
  // Delivered = pixel * a + b. kInvalidArgument, kUnsupported.
  Result<PixelScale> pixel_scale(int64_t field, int64_t channel) const;

  void cancel() noexcept;
  void interrupt() noexcept;
  void on_cancel() noexcept override { cancel_by_token(); }
  // Cancels and ends the workers; those stuck in a reader callback are left behind after a grace second.
  void stop() noexcept;

  void recycle(Batch& batch) noexcept override;
  Status wait(Batch& batch, void* stream) override;
  Status done(Batch& batch, void* stream) override;

 private:
  // A batch in flight. Its place is sequence % window size; it is free again when runs_left is 0.
  struct InFlight {
    RunClaims claims;
    std::atomic<int64_t> runs_left{0};
    Slot* slot = nullptr;
    BatchOrder order;
    bool counted = false;  // its order table still counts it as a user
  };
  static constexpr int64_t kNotMeasured = INT64_MAX;
  static constexpr int32_t kHungry = 8, kHungerMost = 32;
  // A thread that fills: a worker, or the consumer that helps.
  struct FillThread {
    int64_t own = 0, own_end = 0;  // sequences of the batches that it opened last and may not be done with
    std::unique_ptr<WorkerScratch> scratch;
  };
  struct Worker {
    Thread thread;
    FillThread fill;
    bool surplus = false;  // there is no CPU for it beside the others and a consumer that helps
    std::atomic<int64_t> cpu_ns{0};
    std::atomic<bool> done{false};
  };

  struct OrderVersion;
  enum class Awaited { kBatch, kLease };
  // What ends a wait of next(), looked at without the lock.
  struct Change {
    Awaited awaited;
    int64_t head;
    const Slot* slot;  // of the head batch; null while it is not open
    uint32_t events, interrupts;
  };

  Loader() = default;
  Status prepare(SourceRef source, const Options& options);
  Status prepare_memory();
  Status prepare_slots();
  Status upload();  // io=device
  Status prepare_order();
  Status start_workers();

  // window.cpp: under mutex_ unless said otherwise.
  bool may_open() const;
  bool open_one(int32_t thread, int64_t runs_taken);
  bool try_open(int32_t thread, int64_t runs_taken);
  Slot* take_free_slot(int32_t thread);
  void abandon_all();
  void drop_ready(Slot& slot, int64_t sequence);
  void free_slot(Slot& slot);
  // Takes an edge of a slot that this thread owns, with or without mutex_. False: a defect, from now on told by next();
  // the slot is left alone.
  bool advance(Slot& slot, SlotState from, SlotState to);
  void note_defect();
  static Status defect_error();
  void make_room();
  void publish();  // after make_room(), without mutex_: wakes the workers
  bool enough_ready();
  InFlight& flight(int64_t sequence) { return window_[static_cast<size_t>(sequence) % window_.size()]; }
  Position position_of(int64_t sequence) const;

  // work.cpp: by workers, and consumers that help; no lock unless said otherwise.
  struct Claim {
    InFlight* place = nullptr;
    int64_t run = 0;
  };
  // The consumer's, as a worker sees it each time it goes to sleep.
  struct Pace {
    int64_t seen_ns = 0, seen_head = 0;
    int64_t span_ns = 0;  // of late, in which
    double batches = 0;   // so many were taken
  };
  void work(Worker& worker);  // a worker's life
  int64_t expected_need_ns(Pace& pace) const;
  bool claimable() const;
  bool claim(FillThread& thread, Claim& claim);
  bool claim_own(FillThread& thread, Claim& claim);
  bool claim_any(RunClaims::End end, Claim& claim);
  bool open_own(FillThread& thread, Claim& claim);
  void fill_claimed(const Claim& claim, FillThread& thread);
  void fill_run(InFlight& flight, int64_t run, WorkerScratch& scratch);
  void settle(InFlight& place, WorkerScratch& scratch);  // by the last one in a batch, as what follows
  void finish(Slot& slot, WorkerScratch& scratch);
  void pack(Slot& slot, WorkerScratch& scratch);
  void become_ready(Slot& slot, int64_t sequence, SlotState from);
  bool may_help() const;
  bool help_until(int64_t deadline_ns, const Change& change);
  bool hungry() const { return hunger_.load(std::memory_order_relaxed) > kHungry; }  // relaxed: a hint
  void count_hunger(bool waited);                                                    // under mutex_
  bool surplus_may_work() const { return !hungry() || !may_help(); }

  // transfers.cpp: with a device. No lock unless said otherwise.
  bool send(Slot& slot, int64_t sequence);  // by the last worker; false: Ready when its copies are done
  Slot* take_needed();                      // under mutex_
  bool settle();                            // by a worker: waits for copies that somebody needs
  bool free_drained();                      // under mutex_
  bool wait_for_drained(std::unique_lock<ThreadMutex>& lock);  // num_workers=0, under mutex_
  bool take_copied(Slot& slot);                                // under mutex_; whether it is Ready now
  void await_head_copy();                                      // under mutex_
  void abandon_copies();                                       // under mutex_
  void drained(Slot& slot, Status status);                     // under mutex_
  DeviceSlot& device_slot(Batch& batch);
  Status send_failed(Slot& slot);  // under mutex_
  Status lost_error() const;

  // deliver.cpp: under mutex_.
  Slot* head_slot();
  bool ended() const { return config_.epochs > 0 && position_.epoch >= config_.epochs; }
  bool cancelled() const { return cancelled_.load() || token_cancelled_.load(); }
  Status end_of_epoch();
  struct Delivery {
    enum class Outcome { kReturn, kLookAgain, kWaitForLease };
    Outcome outcome;
    Status status = Status::ok();  // what next() returns
  };
  Delivery deliver(std::unique_lock<ThreadMutex>& lock, Slot& slot, Batch** out);
  Delivery deliver_copy(std::unique_lock<ThreadMutex>& lock, Slot& slot, Batch** out);  // beyond max_leases
  Status copy_out(Slot& slot, int64_t held, std::unique_ptr<OverflowBatch>& out);
  Status refill(Slot& slot);  // of a batch that was lost
  Status tell_bad_rows(Slot& slot);
  void pass_step(Slot& slot);
  void count_batch(const Batch& batch, int64_t bytes);
  void head_moved();
  void wake_consumers();  // with or without mutex_
  bool happened(const Change& change) const;
  void wait_for_change(std::unique_lock<ThreadMutex>& lock, Awaited awaited, int64_t deadline_ns,
                       uint32_t interrupts);
  void update_event();
  bool would_wait();

  // position.cpp: under mutex_.
  Status check_position(Position at) const;
  void jump(Position to);
  void start_at(Position to);
  static std::shared_ptr<const Order> own_indices(std::unique_ptr<const Order> order,
                                                  HostArray<int64_t> indices);
  void forget_orders();
  const OrderVersion& order_of(int64_t epoch) const;
  const OrderVersion& order_saved(int64_t epoch, std::string_view indices_digest) const;
  void restore_order(const OrderVersion& version, int64_t epoch);
  std::string state_body(std::string_view indices_digest) const;
  void cancel_by_token() noexcept;

  ForkGuard fork_guard_;
  LoaderConfig config_;
  CancelTokenRef token_;
  Log log_;
  std::shared_ptr<HostMemory> memory_;
  std::shared_ptr<Device> device_;
  bool on_device_ = false;  // batches are delivered there
  int64_t pinned_slots_ = 0;
  Pipeline pipeline_;
  Steps steps_;
  MemoryPlan plan_;
  Block arena_;
  Block shares_;  // the slots' (SlotPlace::shares)
  std::unique_ptr<ViewSet> schema_views_;
  std::string fingerprint_fields_, fingerprint_data_, weights_digest_;
  std::unique_ptr<Filler> filler_;
  std::vector<PlanStage> stages_;
  std::vector<std::unique_ptr<Slot>> slots_;
  DeviceSlots device_slots_;
  std::vector<std::unique_ptr<Worker>> workers_;
  FillThread helper_;  // the consumer, with helper_mutex_
  int64_t runs_per_batch_ = 1;
  int64_t batches_at_once_ = 1;  // that a thread opens; see open_own()

  mutable ThreadMutex mutex_;
  std::mutex helper_mutex_;  // one consumer helps at a time; never waited for
  // Guarded by mutex_.
  EpochTables tables_;
  struct OrderVersion {
    int64_t from_epoch = 0;
    std::shared_ptr<const Order> order;  // owns the caller's indices: batches being filled read them
    std::string indices_digest;
  };
  // By from_epoch, never empty. set_indices adds one, and keeps the one before the epoch's own, so that a state saved
  // before the new order took effect can still be loaded.
  std::vector<OrderVersion> orders_;
  std::vector<Slot*> free_slots_;  // last in, first out: the warmest memory is filled next
  std::vector<Slot*> draining_;    // given back, their copies in flight; oldest first
  std::vector<Slot*> copying_;     // device_sync=host: sent, not complete; oldest first
  Status drain_error_;             // why a draining slot did not come back, until next() has told it
  Position position_;
  bool fresh_ = true;             // right after create, seek or load: begin_epoch goes on here
  std::optional<Position> told_;  // the step whose bad samples next() has told: it goes out without them
  int64_t head_ = 0;              // sequence of the next batch to deliver
  int64_t base_sequence_ = 0;     // this sequence is at base_
  Position base_;
  int64_t leases_held_ = 0;  // in slots
  int64_t batches_out_ = 0;  // all
  Ledger ledger_;
  std::optional<ThreadEvent> event_;
  int64_t abandoned_threads_ = 0;

  // Between consumers and workers.
  std::vector<InFlight> window_;
  std::atomic<int64_t> run_ns_{kNotMeasured};  // what a run takes, smoothed
  std::atomic<int32_t> hunger_{0};  // grows with batches that a consumer waited for, shrinks with others
  std::atomic<int64_t> opened_{0};  // sequences below it are open; release publishes window_ entries
  // False: a batch could not be opened, and nothing changed since. Changes under mutex_.
  std::atomic<bool> room_{true};
  std::atomic<int64_t> claim_from_{0};  // sequences below it have no run left to claim
  std::atomic<int64_t> head_hint_{0};   // head_, for those without mutex_: become_ready(), waiting consumers
  std::atomic<int64_t> abandoned_below_{0};  // batches below it that were not delivered are left behind
  std::atomic<uint32_t> events_{0};          // grows when something other than the head slot may end a wait
  std::atomic<uint32_t> interrupts_{0};
  std::atomic<bool> cancelled_{false}, token_cancelled_{false};
  std::atomic<bool> stopping_{false};
  std::atomic<bool> defect_{false};  // a slot was not as it had to be: see note_defect()
  std::atomic<bool> has_event_{false};
  std::atomic<bool> starved_{false};       // nothing can be opened until a draining slot's copies are done
  std::atomic<bool> copy_awaited_{false};  // the consumer's batch is complete but for its copies
  std::atomic<int64_t> workers_alive_{0};
  WaitPoint work_;          // workers wait for open batches
  WaitPoint surplus_work_;  // and those that there is no CPU for, here
  WaitPoint ready_;         // consumers wait for a batch, a lease, an end
  WaitPoint retired_;       // stop() waits for workers
};

}  // namespace dataline
