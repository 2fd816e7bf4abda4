// Divides one thread's time among the stages of loading and what it waits for. A change of stage looks at the clock once, which
// takes 25 ns; of short runs, one in several is measured and stands for the others, so that the cost stays below 1 %. In the
// others the coarse clock finds the stages that take long. Waits are all measured, and every run while a trace is written.
//
// Threads: one thread enters stages; any number may read what was measured, meanwhile too. Off until switch_on(), and then for
// good; off, entering a stage costs a load and a branch.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "core/base/atomic.h"
#include "core/base/histogram.h"
#include "core/base/part_clock.h"
#include "core/base/thread.h"

namespace dataline {

// The stages of every loader; from kFirstPass on those of a pipeline's passes.
namespace stage {
enum : int32_t {
  kOutside,  // not at work for the loader, or on its way from one stage to the next
  kOrder,    // which samples come next
  kRead,     // finding records, waiting for storage
  kPack,     // checking, packing and mixing a full batch
  kSend,     // queueing copies to a device, waiting for them
  kNoRoom,   // waits: prefetch_depth batches are ready, the consumer is slower
  kDevice,   // all slots are still read by the device
  kNoWork,   // nothing is left to load, or other threads load it
  kParked,   // there is no CPU for this worker, or it is not wanted
  kFirstPass
};
}  // namespace stage

// The batch that a span was spent on.
struct SpanBatch {
  int64_t epoch = 0, step = 0;
  bool first = false;  // its first run
};

// Receives what a thread did while a trace is written. Called by the thread itself.
class SpanSink {
 public:
  static constexpr int32_t kNext = -1, kStep = -2;  // stages of the consumer: in next(), and outside of it
  static constexpr int32_t kCopies = -3, kKernels = -4;  // of the device
  virtual ~SpanSink() = default;
  virtual void add_span(int32_t thread, int32_t stage, int64_t begin_ns, int64_t end_ns,
                        const SpanBatch& batch) noexcept = 0;
  virtual void add_release(int64_t at_ns, const SpanBatch& batch) noexcept = 0;  // by the consumer
};

// Which of many short things are measured: all, unless they take less than kFullNs on average. One that is measured stands for
// itself and for those before it that were not.
class Sampler {
 public:
  // For how many the next one stands; 0: it is not measured.
  int64_t next() { return ++skipped_ < every_ ? 0 : std::exchange(skipped_, 0); }
  void took(int64_t ns) {
    mean_ns_ += (ns - mean_ns_) / 8;
    every_ = std::clamp<int64_t>(kFullNs / std::max<int64_t>(mean_ns_, 1), 1, kMostEvery);
  }
  int64_t every() const { return every_; }

 private:
  static constexpr int64_t kFullNs = 128'000, kMostEvery = 64;
  int64_t skipped_ = 0, every_ = 1, mean_ns_ = kFullNs;
};

class Stopwatch {
 public:
  // What is measured, allocated when it is switched on.
  struct Times {
    // `divided`: by pass, whether its program tells its parts.
    Times(size_t stage_count, const std::vector<bool>& divided)
        : stages(stage_count), parts(divided.size()), part_times(divided.size()) {
      for (size_t pass = 0; pass < divided.size(); ++pass) {
        if (!divided[pass]) continue;
        parts[pass] = std::make_unique<Histogram[]>(PartClock::kMostParts);
        part_times[pass].parts = parts[pass].get();
      }
    }
    Histogram* parts_of(size_t pass) const { return parts[pass].get(); }  // null: it is not divided

    struct Stage {
      Histogram visits;
      Atomic<int64_t> bytes{0};
    };
    std::vector<Stage> stages;
    std::vector<std::unique_ptr<Histogram[]>> parts;
    std::vector<PartTimes> part_times;  // by pass; the thread's own
    PartClock clock;
  };

  // A run of this batch, whose stages follow.
  void begin_run(const SpanBatch& batch) {
    if (times_.load(std::memory_order_acquire) == nullptr) return;
    batch_ = batch;
    weight_ = trace_->load(std::memory_order_relaxed) != nullptr ? 1 : sampler_.next();
  }
  void enter(int32_t stage) {
    Times* const times = times_.load(std::memory_order_acquire);
    if (times == nullptr) return;
    if (weight_ > 0)
      change(*times, stage);
    else
      change_unmeasured(*times, stage);
  }
  // A stage that is a wait; the run is over.
  void begin_wait(int32_t stage) {
    weight_ = 1;
    enter(stage);
  }
  int64_t runs_measured() const { return weight_; }  // for how many this run stands; 0: it is not measured
  void add_bytes(int32_t stage, int64_t bytes) {
    Times* const times = times_.load(std::memory_order_acquire);
    if (times == nullptr) return;
    Atomic<int64_t>& total = times->stages[static_cast<size_t>(stage)].bytes;
    total.store(total.load(std::memory_order_relaxed) + bytes, std::memory_order_relaxed);
  }
  // By the thread, when it begins and when it ends for good.
  void begin_thread();
  void end_thread();

  // --- Readers, and whoever switches on (one at a time) ---
  void switch_on(std::unique_ptr<Times> times, const Atomic<SpanSink*>& trace, int32_t thread);
  Times* times() const { return times_.load(std::memory_order_acquire); }
  // Of a stage, with what the current visit has taken so far.
  int64_t total_ns(int32_t stage) const;
  // Not while the thread has not begun, or where the system does not tell.
  bool system_times(ThreadTimes& out) const;

 private:
  void change(Times& times, int32_t stage);
  void change_unmeasured(Times& times, int32_t stage);
  static constexpr int64_t kLongNs = 10'000'000;  // found by the coarse clock

  Atomic<Times*> times_{nullptr};  // owned_, published
  std::unique_ptr<Times> owned_;
  const Atomic<SpanSink*>* trace_ = nullptr;
  int32_t thread_ = 0;
  Atomic<int32_t> stage_{stage::kOutside};
  Atomic<int64_t> since_ns_{0};
  SpanBatch batch_;
  Sampler sampler_;
  int64_t weight_ = 1;            // of the run; 0: it is not measured
  int64_t run_ns_ = 0;            // when it began
  int64_t coarse_since_ns_ = 0;   // the stage did, in a run that is not measured
  Atomic<int64_t> thread_id_{0};  // 0: not begun, or ended
  // Of a thread of the host's, what it had used before; and what it had when it ended.
  Atomic<int64_t> first_cpu_ns_{0}, first_queued_ns_{0}, last_cpu_ns_{0}, last_queued_ns_{0};
};

// A stage for as long as a scope lasts.
class StageScope {
 public:
  StageScope(Stopwatch& watch, int32_t stage) : watch_(watch) { watch.enter(stage); }
  StageScope(const StageScope&) = delete;
  StageScope& operator=(const StageScope&) = delete;
  ~StageScope() { watch_.enter(stage::kOutside); }

 private:
  Stopwatch& watch_;
};

}  // namespace dataline
