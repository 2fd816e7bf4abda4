// The loader: a job's stream of batches. It keeps the position and the books, and joins the parts that do the work:
//
//   BatchWindow    the batches in flight: opened, claimed run by run, Ready, abandoned by a seek
//   WorkerPool     the threads that fill them, the consumer among them while it waits
//   Delivery       what the device decides: sending, completing, draining
//   ConsumerGate   what ends a wait of next(), and the wait handle
//
// Threads: next, cancel, interrupt, wait, done, recycle: any thread. Consumers hold mutex_ while they look for a batch,
// not while they wait, copy or help. Lock order: mutex_, then the window's lock, then Delivery's and EpochTables' own.
// Lifetime: workers and leases hold the loader; stop() ends the workers.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/base/atomic.h"
#include "core/base/cancel.h"
#include "core/base/thread_mutex.h"
#include "core/batch/slot.h"
#include "core/device/device.h"
#include "core/loader/batch_window.h"
#include "core/loader/consumer_gate.h"
#include "core/loader/delivery.h"
#include "core/loader/epoch_loop.h"
#include "core/loader/epochs.h"
#include "core/loader/filler.h"
#include "core/loader/ledger.h"
#include "core/loader/metrics/metrics.h"
#include "core/loader/metrics/trace.h"
#include "core/loader/options.h"
#include "core/loader/pipeline.h"
#include "core/loader/tuning/tuner.h"
#include "core/loader/worker_pool.h"
#include "core/memory/host_memory.h"
#include "core/memory/pages.h"
#include "core/order/mix.h"
#include "core/source/composed/mix.h"
#include "core/source/identity.h"

namespace dataline {

class SampleMaker;   // core/loader/cache/sample_maker.h
struct CacheCounts;  // core/loader/cache/kept_samples.h

// A part of a mix as the loader sees it now.
struct PartStats {
  std::string_view name;  // NUL-terminated; lives as long as the loader
  int64_t samples = 0;    // the part has
  int64_t delivered = 0;  // to this rank since create, without pads
  double epochs = 0;      // how often the job has gone through the part by now, over all ranks
  double share_asked = 0, share_got = 0;  // of the slots that come now; of what was delivered
};

// How many workers work, how far ahead, and what tuning makes of it.
struct Tuned {
  Tune mode = Tune::kOff;
  TuneSetting force, most, chosen;
  int64_t changes = 0;
  bool frozen = false;
  double batches_per_s = 0, wait_share = 0;
  std::string text;
};

class Loader final : public BatchOwner,
                     public CancelToken::Listener,
                     private ConsumerGate::Listener,
                     public std::enable_shared_from_this<Loader> {
 public:
  static Result<std::shared_ptr<Loader>> create(SourceRef source, const Options& options);
  ~Loader() override;

  // Each call below returns kForked in a forked child.
  // `loop`: takes batches of that loop only; null: of whichever epoch.
  Status next(int64_t timeout_ns, Batch** out, EpochLoop* loop = nullptr) DL_EXCLUDES(mutex_) {
    return metrics_->on() ? measured_next(timeout_ns, out, loop) : take_next(timeout_ns, out, loop);
  }
  // num_workers=0: fills runs for about `budget_ns`. kOk: next() has something to return; kTimeout: not yet.
  Status work(int64_t budget_ns) DL_EXCLUDES(mutex_);
  Status begin_epoch() DL_EXCLUDES(mutex_);
  Result<std::shared_ptr<EpochLoop>> begin_loop() DL_EXCLUDES(mutex_);
  Status seek(Position to) DL_EXCLUDES(mutex_);
  Result<Position> position() const DL_EXCLUDES(mutex_);
  Status set_indices(const int64_t* indices, int64_t count, HostOwner owner) DL_EXCLUDES(mutex_);
  Result<std::string> save_state() DL_EXCLUDES(mutex_);
  Status load_state(std::string_view text) DL_EXCLUDES(mutex_);
  Result<intptr_t> wait_handle() DL_EXCLUDES(mutex_);
  Result<LoaderStats> stats() const DL_EXCLUDES(mutex_);
  Result<BadSample> bad_sample(int64_t index) const DL_EXCLUDES(mutex_);
  int64_t part_count() const { return mix_source_ == nullptr ? 0 : mix_source_->facts().mix->part_count(); }
  Result<PartStats> part(int64_t index) const DL_EXCLUDES(mutex_);
  int64_t bad_sample_count() const DL_EXCLUDES(mutex_);
  // Workers that work from now on: 1 to those that were planned for. Ends tuning. kOutOfRange, kWrongState (there are
  // none).
  Status set_workers(int64_t count) DL_EXCLUDES(mutex_);
  Result<Tuned> tuned() const DL_EXCLUDES(mutex_);

  bool forked() const { return fork_guard_.forked(); }
  static Status forked_error();
  int64_t steps() const { return steps_.count(); }
  int64_t leases() const { return slots_leased_.load() + copies_leased_.load(); }  // of any thread
  const std::vector<BatchView>& fields() const { return schema_views_->views(); }
  const std::vector<PlanStage>& stages() const { return stages_; }
  // Stay when the loader is gone.
  const std::shared_ptr<Metrics>& metrics() const { return metrics_; }
  // Also switches on what stats=full measures. kWrongState: a trace is being written.
  Status trace_start(const TraceTarget& target) DL_EXCLUDES(trace_mutex_);
  Status trace_stop() DL_EXCLUDES(trace_mutex_);
  // Delivered = pixel * a + b. kInvalidArgument, kUnsupported.
  Result<PixelScale> pixel_scale(int64_t field, int64_t channel) const;

  void cancel() noexcept;
  void interrupt(EpochLoop* loop = nullptr) noexcept;
  void on_cancel() noexcept override { gate_.cancel_by_token(); }
  // Cancels and ends the workers; those stuck in a read of the host's are left behind after a grace second.
  void stop() noexcept DL_EXCLUDES(mutex_);

  void recycle(Batch& batch) noexcept override DL_EXCLUDES(mutex_);
  Status wait(Batch& batch, void* stream) override;
  Status done(Batch& batch, void* stream) override;
  void passed_on(Batch& batch) noexcept override;

 private:
  Loader() = default;
  // loader.cpp: at create, before there is another thread.
  Status prepare(SourceRef source, const Options& options);
  Status put_cache_before(const SourceRef& stored) DL_REQUIRES(mutex_);
  Status prepare_memory() DL_REQUIRES(mutex_);
  Status prefault_arena();
  Status prepare_slots(std::vector<std::unique_ptr<Slot>>& slots);
  Status prepare_threads();
  std::span<std::byte> slots_memory() const;

  // measure.cpp
  void end_measuring() noexcept DL_EXCLUDES(mutex_, trace_mutex_);

  // tuning/tuning.cpp
  Result<MemoryPlan> fit_plan(const Order& order);
  Status start_workers() DL_REQUIRES(mutex_);
  void put_in_force(TuneSetting setting) DL_REQUIRES(mutex_);
  std::string tune() DL_REQUIRES(mutex_);  // for the log
  std::string tune_text() const DL_REQUIRES(mutex_);
  void tune_from(std::string_view text) DL_REQUIRES(mutex_);

  // orders.cpp
  Status prepare_order() DL_REQUIRES(mutex_);
  Result<std::unique_ptr<const Order>> make_order() DL_REQUIRES(mutex_);
  Result<std::unique_ptr<const Order>> make_mixed_order() DL_REQUIRES(mutex_);
  void limit_open_blocks() DL_REQUIRES(mutex_);
  Status cut_blocks(BlockEnds& ends) const DL_REQUIRES(mutex_);
  void note_windows(const Order& order) DL_REQUIRES(mutex_);
  double open_block_bytes(const Order& order) const DL_REQUIRES(mutex_);
  Result<std::unique_ptr<const Order>> make_bucket_order() DL_REQUIRES(mutex_);

  // next.cpp
  struct Delivered {
    enum class Outcome { kReturn, kLookAgain, kWaitForLease };
    Outcome outcome;
    Status status = Status::ok();  // what next() returns
  };
  Status take_next(int64_t timeout_ns, Batch** out, EpochLoop* loop, Metrics::Call* call = nullptr)
      DL_EXCLUDES(mutex_);
  Status measured_next(int64_t timeout_ns, Batch** out, EpochLoop* loop) DL_EXCLUDES(mutex_);
  Status obstacle() DL_REQUIRES(mutex_);
  Status no_batch_due(EpochLoop* loop) DL_REQUIRES(mutex_);
  bool ready_now(Slot& slot) DL_REQUIRES(mutex_);
  bool open_head() DL_REQUIRES(mutex_);
  bool wait_for(const WorkerPool::Change& change, int64_t deadline_ns, EpochLoop* loop, bool* worked)
      DL_REQUIRES(mutex_);
  Delivered deliver(Slot& slot, Batch** out, const EpochLoop* loop) DL_REQUIRES(mutex_);
  Status report_failed(Slot& slot) DL_REQUIRES(mutex_);
  Status report_bad_rows(Slot& slot) DL_REQUIRES(mutex_);
  void pass_step(Slot& slot) DL_REQUIRES(mutex_);
  void count_batch(const Batch& batch, int64_t bytes) DL_REQUIRES(mutex_);
  void count_parts(const Batch& batch) DL_REQUIRES(mutex_);  // parts.cpp
  void head_moved() DL_REQUIRES(mutex_);
  bool would_wait() DL_REQUIRES(mutex_);
  void update_handle() DL_REQUIRES(mutex_);
  void refresh_handle() noexcept override DL_EXCLUDES(mutex_);
  void tell_of_loss() noexcept DL_EXCLUDES(mutex_);

  // leases.cpp
  // Beyond max_leases.
  Delivered deliver_copy(Slot& slot, Batch** out, const EpochLoop* loop) DL_REQUIRES(mutex_);
  Status copy_out(Slot& slot, int64_t held, std::unique_ptr<OverflowBatch>& out);
  bool all_leased() const {
    return slots_leased_.load() >= plan_.lease_slots && leases() >= config_.max_leases;
  }

  // position.cpp
  bool ended() const DL_REQUIRES(mutex_) { return config_.epochs > 0 && position_.epoch >= config_.epochs; }
  void pass_epoch() DL_REQUIRES(mutex_);
  Status start_epoch() DL_REQUIRES(mutex_);
  void end_loop(EpochLoop::State how) DL_REQUIRES(mutex_);
  Status check_position(Position at) const;
  void jump(Position to) DL_REQUIRES(mutex_);
  void start_at(Position to) DL_REQUIRES(mutex_);
  Status find_content() DL_REQUIRES(mutex_);
  std::string state_body(std::string_view indices_digest) const DL_REQUIRES(mutex_);
  std::vector<std::string> state_extras() const;
  std::string global_batch_text() const;  // of each bucket, if there are any

  // Fixed at create.
  ForkGuard fork_guard_;
  LoaderConfig config_;
  CancelTokenRef token_;
  Log log_;
  std::shared_ptr<HostMemory> memory_;
  std::shared_ptr<Device> device_;
  Pipeline pipeline_;  // its source is let go by stop()
  Steps steps_;
  MemoryPlan plan_;
  Block arena_;
  Block shares_;  // the slots' (SlotPlace::shares)
  std::unique_ptr<ViewSet> schema_views_;
  std::string fingerprint_fields_, weights_digest_, lengths_digest_, shuffle_text_;
  std::shared_ptr<SampleMaker> maker_;               // of a cache, until the threads are there; null else
  std::shared_ptr<const CacheCounts> cache_counts_;  // null without one
  SourceRef mix_source_;                             // of a mix; null else
  std::vector<PlanStage> stages_;
  std::shared_ptr<Metrics> metrics_;
  ThreadMutex trace_mutex_;  // held while a trace begins or ends; before metrics_'s own
  std::unique_ptr<Trace> trace_ DL_GUARDED_BY(trace_mutex_);  // made by the first one

  // The parts; each has its own rules. In this order: each uses those above it.
  ConsumerGate gate_{*this};
  EpochTables tables_;
  std::unique_ptr<Filler> filler_;
  std::unique_ptr<Delivery> delivery_;
  std::unique_ptr<BatchWindow> window_;
  std::unique_ptr<WorkerPool> pool_;

  mutable ThreadMutex mutex_;
  std::unique_ptr<Tuner> tuner_ DL_GUARDED_BY(mutex_);  // null: tune=off, or there are no workers
  int64_t tuned_ns_ DL_GUARDED_BY(mutex_) = 0, cpus_read_ns_ DL_GUARDED_BY(mutex_) = 0;
  int32_t cpus_ DL_GUARDED_BY(mutex_) = 1;
  int64_t workers_set_ DL_GUARDED_BY(mutex_) = 0;  // by set_workers(), how often
  // Identifies the data; find_content().
  std::optional<ContentIdentity> content_ DL_GUARDED_BY(mutex_);
  Position position_ DL_GUARDED_BY(mutex_);
  bool fresh_ DL_GUARDED_BY(mutex_) = true;  // right after create, seek or load: begin_epoch goes on here
  std::shared_ptr<EpochLoop> loop_ DL_GUARDED_BY(mutex_);  // the one that is current; null: none is
  // The step whose bad samples next() has reported: it goes out without them.
  std::optional<Position> reported_ DL_GUARDED_BY(mutex_);
  std::shared_ptr<const OrderVersions> orders_ DL_GUARDED_BY(mutex_);
  Ledger ledger_ DL_GUARDED_BY(mutex_);
  // Of a mix that decides the order; null else. One of orders_.
  const MixOrder* mix_order_ DL_GUARDED_BY(mutex_) = nullptr;
  std::vector<int64_t> part_delivered_ DL_GUARDED_BY(mutex_);  // one a part
  int64_t abandoned_threads_ DL_GUARDED_BY(mutex_) = 0;
  // Batches that consumers hold. Both grow under mutex_.
  Atomic<int64_t> slots_leased_{0}, copies_leased_{0};
};

// One sample as a batch of one, by a loader of its own: of `options`, those count that say what a sample is.
Status read_sample(const SourceRef& source, int64_t index, const Options& options, Batch** out);

}  // namespace dataline
