// The loader: a job's stream of batches. It keeps the position and the books, and joins the parts that do the work:
//
//   OrderBook      which order holds in which epoch, what the parts of a mix have delivered
//   JobState       what a saved state says of the job
//   TuneControl    how many workers work, how many batches are in flight
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
#include "core/loader/arena.h"
#include "core/loader/batch_window.h"
#include "core/loader/consumer_gate.h"
#include "core/loader/delivery.h"
#include "core/loader/epoch_loop.h"
#include "core/loader/epochs.h"
#include "core/loader/filler.h"
#include "core/loader/job_state.h"
#include "core/loader/ledger.h"
#include "core/loader/metrics/loader_stats.h"
#include "core/loader/metrics/metrics.h"
#include "core/loader/metrics/trace_control.h"
#include "core/loader/order_book.h"
#include "core/loader/pipeline.h"
#include "core/loader/tune_control.h"
#include "core/loader/worker_pool.h"
#include "core/memory/host_memory.h"

namespace dataline {

class Options;
class SampleMaker;    // core/loader/cache/sample_maker.h
struct CacheCounts;   // core/loader/cache/kept_samples.h
struct LoaderConfig;  // core/loader/config.h

class Loader final : public BatchOwner,
                     public CancelToken::Listener,
                     public StatsSource,
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
  Result<LoaderStats> stats() const override DL_EXCLUDES(mutex_);
  Result<BadSample> bad_sample(int64_t index) const DL_EXCLUDES(mutex_);
  int64_t part_count() const;
  Result<PartStats> part(int64_t index) const DL_EXCLUDES(mutex_);
  int64_t bad_sample_count() const DL_EXCLUDES(mutex_);
  // Workers that work from now on: 1 to those that were planned for. Ends tuning. kOutOfRange, kWrongState (there are
  // none).
  Status set_workers(int64_t count) DL_EXCLUDES(mutex_) {
    if (forked()) return forked_error();
    ThreadLock lock(mutex_);
    return tuning_->set_workers(count);
  }
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
  Status trace_start(const TraceTarget& target);
  Status trace_stop();
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
  Loader();
  // loader.cpp: at create, before there is another thread.
  Status prepare(SourceRef source, const Options& options);
  Result<std::shared_ptr<SampleMaker>> put_cache_before(const SourceRef& stored) DL_REQUIRES(mutex_);
  Status prepare_memory(SampleMaker* maker) DL_REQUIRES(mutex_);
  PipelineConfig pipeline_config() const;
  Status prepare_slots(std::vector<std::unique_ptr<Slot>>& slots);
  Status prepare_threads(SampleMaker* maker);
  Status start_workers() DL_REQUIRES(mutex_);

  // measure.cpp
  void end_measuring() noexcept DL_EXCLUDES(mutex_);

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
  void head_moved() DL_REQUIRES(mutex_);
  bool would_wait() DL_REQUIRES(mutex_);
  void update_handle() DL_REQUIRES(mutex_);
  void refresh_handle() noexcept override DL_EXCLUDES(mutex_);
  void tell_of_loss() noexcept DL_EXCLUDES(mutex_);

  // leases.cpp
  // Beyond max_leases.
  Delivered deliver_copy(Slot& slot, Batch** out, const EpochLoop* loop) DL_REQUIRES(mutex_);
  Status copy_out(Slot& slot, int64_t held, std::unique_ptr<OverflowBatch>& out);
  bool all_leased() const;

  // position.cpp
  bool ended() const DL_REQUIRES(mutex_);
  void pass_epoch() DL_REQUIRES(mutex_);
  Status start_epoch() DL_REQUIRES(mutex_);
  void end_loop(EpochLoop::State how) DL_REQUIRES(mutex_);
  Status check_position(Position at) const DL_REQUIRES(mutex_);
  void jump(Position to) DL_REQUIRES(mutex_);
  void start_at(Position to) DL_REQUIRES(mutex_);

  // Fixed at create.
  ForkGuard fork_guard_;
  std::unique_ptr<LoaderConfig> config_;
  CancelTokenRef token_;
  Log log_;
  std::shared_ptr<HostMemory> memory_;
  std::shared_ptr<Device> device_;
  Pipeline pipeline_;  // its source is let go by stop()
  Steps steps_;
  Arena arena_;
  std::unique_ptr<ViewSet> schema_views_;
  std::shared_ptr<const CacheCounts> cache_counts_;  // null without one
  std::vector<PlanStage> stages_;
  std::shared_ptr<Metrics> metrics_;
  TraceControl trace_;

  // The parts; each has its own rules. In this order: each uses those above it.
  ConsumerGate gate_{*this};
  EpochTables tables_;
  std::unique_ptr<Filler> filler_;
  std::unique_ptr<Delivery> delivery_;
  std::unique_ptr<BatchWindow> window_;
  std::unique_ptr<WorkerPool> pool_;

  mutable ThreadMutex mutex_;
  OrderBook book_ DL_GUARDED_BY(mutex_);
  std::unique_ptr<JobState> state_ DL_GUARDED_BY(mutex_);
  std::unique_ptr<TuneControl> tuning_ DL_GUARDED_BY(mutex_);
  Position position_ DL_GUARDED_BY(mutex_);
  bool fresh_ DL_GUARDED_BY(mutex_) = true;  // right after create, seek or load: begin_epoch goes on here
  std::shared_ptr<EpochLoop> loop_ DL_GUARDED_BY(mutex_);  // the one that is current; null: none is
  // The step whose bad samples next() has reported: it goes out without them.
  std::optional<Position> reported_ DL_GUARDED_BY(mutex_);
  Ledger ledger_ DL_GUARDED_BY(mutex_);
  int64_t abandoned_threads_ DL_GUARDED_BY(mutex_) = 0;
  // Batches that consumers hold. Both grow under mutex_.
  Atomic<int64_t> slots_leased_{0}, copies_leased_{0};
};

// One sample as a batch of one, by a loader of its own: of `options`, those count that say what a sample is.
Status read_sample(const SourceRef& source, int64_t index, const Options& options, Batch** out);

}  // namespace dataline
