// Divides one thread's time among the stages of loading and what it waits for. A change of stage looks at the clock once.
//
// Threads: one thread enters stages; any number may read what was measured, meanwhile too. Off until switch_on(), and then for
// good; off, entering a stage costs a load and a branch.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
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
  virtual ~SpanSink() = default;
  virtual void add_span(int32_t thread, int32_t stage, int64_t begin_ns, int64_t end_ns,
                        const SpanBatch& batch) noexcept = 0;
  virtual void add_release(int64_t at_ns, const SpanBatch& batch) noexcept = 0;  // by the consumer
};

class Stopwatch {
 public:
  // What is measured, allocated when it is switched on.
  struct Times {
    // `divided`: by pass, whether its program tells its parts.
    Times(size_t stage_count, const std::vector<bool>& divided) : stages(stage_count), parts(divided.size()) {
      for (size_t pass = 0; pass < divided.size(); ++pass) {
        if (divided[pass]) parts[pass] = std::make_unique<Histogram[]>(PartClock::kMostParts);
      }
    }
    Histogram* parts_of(size_t pass) const { return parts[pass].get(); }  // null: it is not divided

    struct Stage {
      Histogram visits;
      Atomic<int64_t> bytes{0};
    };
    std::vector<Stage> stages;
    std::vector<std::unique_ptr<Histogram[]>> parts;
    PartClock clock;
  };

  void enter(int32_t stage) {
    if (Times* times = times_.load(std::memory_order_acquire); times != nullptr) change(*times, stage);
  }
  // The batch that is worked on from here.
  void batch(const SpanBatch& batch) { batch_ = batch; }
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

  Atomic<Times*> times_{nullptr};  // owned_, published
  std::unique_ptr<Times> owned_;
  const Atomic<SpanSink*>* trace_ = nullptr;
  int32_t thread_ = 0;
  Atomic<int32_t> stage_{stage::kOutside};
  Atomic<int64_t> since_ns_{0};
  SpanBatch batch_;
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
