// What a loader measures of itself, as a table of rows: the counters of dl_stats always, and with stats=full, or once a trace was
// started, where the time of each worker and of the consumer goes.
//
// Threads: any, at the same time, also while the loader ends. Metrics outlive their loader and tell its last numbers then.
// Lock order: mutex_ is the innermost; it is not held while the loader is asked.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/atomic.h"
#include "core/base/status.h"
#include "core/base/thread_mutex.h"
#include "core/device/device.h"
#include "core/loader/metrics/loader_stats.h"
#include "core/loader/metrics/stopwatch.h"
#include "core/memory/pages.h"

namespace dataline {

enum class MetricKind : int32_t { kCounter = 1, kGauge = 2, kDuration = 3 };
constexpr int32_t kThreadAll = -1, kThreadConsumer = -2;
constexpr int32_t kThreadDevice = -3;  // of spans alone

struct MetricRow {
  MetricKind kind = MetricKind::kCounter;
  const char* name = "";
  const char* part = "";  // of what is divided; lives as long as the metrics
  const char* unit = "";
  const char* doc = "";
  int32_t thread = kThreadAll;
  int64_t value = 0;  // of a duration the sum
  int64_t count = 0, bytes = 0, p50_ns = 0, p99_ns = 0, max_ns = 0;
};

// A call of next() that took long.
struct Stall {
  int64_t epoch = 0, step = 0;
  int64_t wait_ns = 0;
  int64_t end_ns = 0;      // monotonic
  const char* cause = "";  // what the workers spent most of the time with; lives as long as the metrics
};

class Metrics final : public DeviceTimesSink {
 public:
  // Longer calls of next() are stalls.
  static constexpr int64_t kStallNs = 10'000'000;

  // One pass of the pipeline: what it is called, whole and in the parts of its program.
  struct Pass {
    std::string text;
    std::vector<std::string> parts;
  };
  // `threads`: that fill, the last of them the consumer.
  Metrics(std::weak_ptr<const StatsSource> loader, std::vector<Pass> passes, int64_t threads, bool to_device);

  // --- The loader ---
  void switch_on() DL_EXCLUDES(mutex_);  // for good
  bool to_device() const { return to_device_; }
  bool on() const { return specs_.load(std::memory_order_acquire) != nullptr; }
  Stopwatch& watch(int64_t thread) { return watches_[static_cast<size_t>(thread)]; }
  // A call of next(), or several, of which all but the last reached their deadline: languages wait in slices, to look for signals
  // between them, or look before they wait. Where calls follow each other within microseconds, one in several is measured.
  struct Call {
    int64_t number = 0;
    int64_t weight = 0;    // for how many it stands; 0: none
    int64_t begin_ns = 0;  // of the first; 0: not measured
    // When its last stretch without a pause began; by the coarse clock where nothing is measured.
    int64_t since_ns = 0;
    int64_t waited_ns = 0;  // in stretches before that
    int64_t slice_ns = 0;   // when the last of the calls began
    int64_t end_ns = 0;
    SpanBatch batch;
    bool for_lease = false;  // it waited for one
    int64_t took_ns() const { return waited_ns + end_ns - since_ns; }
  };
  Call begin_call() DL_EXCLUDES(mutex_);
  // It reached its deadline, or was interrupted: the next call goes on with it. Of calls of several threads, that of one.
  void pause_call(Call& call) DL_EXCLUDES(mutex_);
  // It delivered call.batch.
  void end_call(Call& call) DL_EXCLUDES(mutex_);
  // The numbers that stay when the loader has ended.
  void close(const LoaderStats& last) DL_EXCLUDES(mutex_);
  // What the device did for a batch; null while nothing is measured.
  DeviceTimesSink* device_times() { return to_device_ && on() ? this : nullptr; }
  void add_times(const DeviceTimes& times) noexcept override DL_EXCLUDES(mutex_);
  void trace_to(SpanSink* sink) { trace_.store(sink, std::memory_order_release); }  // null: nowhere
  SpanSink* trace() const { return trace_.load(std::memory_order_acquire); }

  // --- Readers: not in a forked child, where a lock may be held for ever by a thread that is not there ---
  bool forked() const { return fork_guard_.forked(); }
  int64_t row_count() const;  // grows once, when measuring begins
  MetricRow row(int64_t index) const DL_EXCLUDES(mutex_);
  std::vector<MetricRow> rows() const DL_EXCLUDES(mutex_);
  HistogramSum next_times() const DL_EXCLUDES(mutex_);
  HistogramSum between_times() const DL_EXCLUDES(mutex_);
  int64_t stall_count() const DL_EXCLUDES(mutex_);  // that are kept: the last kStalls
  Result<Stall> stall(int64_t index) const DL_EXCLUDES(mutex_);
  std::vector<std::string> stage_names() const;
  int64_t thread_count() const { return static_cast<int64_t>(watches_.size()); }

 private:
  static constexpr size_t kStalls = 64;
  static constexpr int64_t kLookNs = 10'000'000;  // from one look at the stages to the next
  // Whose pause between two calls is shorter than this part of the first one goes on waiting: it looked for signals, or had to get
  // its language's lock for that.
  static constexpr int64_t kPausePart = 4;

  // A row of the table.
  struct Spec {
    enum class Of { kNext, kBetween, kStage, kPart, kQueued, kBlocked, kCopies, kKernels } of;
    int32_t thread = kThreadAll;
    int32_t stage = 0;
    int32_t part = 0;
    const char* text = "";
  };
  bool waits(int32_t stage) const { return stage >= stage::kNoRoom && stage < stage::kFirstPass; }
  size_t stage_count() const { return stage::kFirstPass + passes_.size(); }
  const char* stage_text(int32_t stage) const;
  std::vector<Spec> make_specs() const;
  LoaderStats stats() const DL_EXCLUDES(mutex_);
  MetricRow counter(size_t index, const LoaderStats& stats) const;
  MetricRow measured(const Spec& spec) const DL_EXCLUDES(mutex_);
  MetricRow measured_at(size_t index) const DL_EXCLUDES(mutex_);
  void add_device(MetricRow& row, Spec::Of of) const DL_EXCLUDES(mutex_);
  void add_stage(MetricRow& row, int32_t thread, int32_t stage) const;
  void add_part(MetricRow& row, const Spec& spec) const;
  void add_off_cpu(MetricRow& row, const Spec& spec) const;
  // use(watch) of each that is meant and measures.
  template <typename Use>
  void for_threads(int32_t thread, Use use) const {
    for (size_t t = 0; t < watches_.size(); ++t) {
      const bool consumer = t + 1 == watches_.size();
      const bool wanted =
          thread == kThreadAll || (thread == kThreadConsumer ? consumer : thread == static_cast<int32_t>(t));
      if (wanted && watches_[t].times() != nullptr) use(watches_[t]);
    }
  }
  bool resume_call(Call& call) DL_EXCLUDES(mutex_);
  void note_stall(const Call& call) DL_REQUIRES(mutex_);
  const char* cause_of_stall(std::vector<int64_t>& totals) const;
  const char* longest_part(int32_t stage) const;
  void look(std::vector<int64_t>& totals) const;

  const std::weak_ptr<const StatsSource> loader_;
  const std::vector<Pass> passes_;
  const bool to_device_;
  std::vector<Stopwatch> watches_;
  Atomic<SpanSink*> trace_{nullptr};
  // Calls of next(): so far, the last that was measured, from one of those to the next.
  Atomic<int64_t> calls_{0}, measured_call_{-1}, calls_every_{1};
  Atomic<bool> paused_{false};                       // there is a paused_call_
  Atomic<const std::vector<Spec>*> specs_{nullptr};  // owned_specs_, published

  std::unique_ptr<Atomic<int64_t>[]> highest_;  // by spec, published with specs_: what a reader was told
  const ForkGuard fork_guard_;

  mutable ThreadMutex mutex_;
  std::vector<Spec> owned_specs_ DL_GUARDED_BY(mutex_);
  bool closed_ DL_GUARDED_BY(mutex_) = false;
  LoaderStats last_ DL_GUARDED_BY(mutex_);
  Histogram next_ DL_GUARDED_BY(mutex_), between_ DL_GUARDED_BY(mutex_);
  Histogram copies_ DL_GUARDED_BY(mutex_), kernels_ DL_GUARDED_BY(mutex_);  // of the device, by its clock
  int64_t copied_bytes_ DL_GUARDED_BY(mutex_) = 0;
  Sampler calls_sampler_ DL_GUARDED_BY(mutex_);
  Call returned_ DL_GUARDED_BY(mutex_);  // the last that was measured
  Call paused_call_ DL_GUARDED_BY(mutex_);
  std::vector<int64_t> seen_totals_ DL_GUARDED_BY(mutex_);
  int64_t looked_ns_ DL_GUARDED_BY(mutex_) = 0;
  std::array<Stall, kStalls> stalls_ DL_GUARDED_BY(mutex_);
  int64_t stalls_seen_ DL_GUARDED_BY(mutex_) = 0;
};

// As Prometheus reads it (text format 0.0.4). `labels`: `rank="0",job="x"`, added to every series; kInvalidArgument where they are not of
// that form.
Result<std::string> prometheus_text(const Metrics& metrics, std::string_view labels);

}  // namespace dataline
