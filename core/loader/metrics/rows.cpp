// The table: its rows, and what stands in each.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "core/loader/metrics/metrics.h"

namespace dataline {
namespace {

constexpr const char* kNs = "ns";
constexpr const char* kBytes = "bytes";

// The counters of dl_stats, under their names there.
struct CounterSpec {
  const char* name;
  MetricKind kind;
  const char* unit;
  const char* doc;
  int64_t (*value)(const LoaderStats&);
};
#define DL_COUNTER(member, name, kind, unit, doc)                                               \
  {                                                                                             \
    name, MetricKind::kind, unit, doc, [](const LoaderStats& s) -> int64_t { return s.member; } \
  }
constexpr CounterSpec kCounters[] = {
    DL_COUNTER(ledger.batches, "batches", kCounter, "batches", "Batches delivered."),
    DL_COUNTER(ledger.samples, "samples", kCounter, "samples", "Samples delivered, without padding rows."),
    DL_COUNTER(ledger.bytes, "bytes", kCounter, kBytes, "Bytes delivered."),
    DL_COUNTER(ledger.wait_ns, "wait_ns", kCounter, kNs,
               "Exposed loading time: how long consumers waited in next."),
    DL_COUNTER(ledger.waits, "waits", kCounter, "calls", "Calls to next that had to wait."),
    DL_COUNTER(ledger.skipped, "skipped", kCounter, "samples", "Bad samples skipped."),
    DL_COUNTER(ledger.dropped, "dropped", kCounter, "samples", "Slots dropped by last_batch=drop."),
    DL_COUNTER(ledger.padded, "padded", kCounter, "samples", "Rows added by last_batch=pad."),
    DL_COUNTER(ledger.replaced, "replaced", kCounter, "samples", "Rows filled with a replacement sample."),
    DL_COUNTER(bad, "bad", kCounter, "samples", "Distinct bad samples seen."),
    DL_COUNTER(ledger.warned, "warned", kCounter, "samples", "Images delivered although the decoder warned."),
    DL_COUNTER(ledger.lease_copies, "lease_copies", kCounter, "batches",
               "Batches delivered as copies, beyond the slots for leases."),
    DL_COUNTER(worker_cpu_ns, "worker_cpu_ns", kCounter, kNs, "CPU time of worker threads."),
    DL_COUNTER(cache_read, "cache_read", kCounter, "samples", "Samples read from the cache."),
    DL_COUNTER(cache_made, "cache_made", kCounter, "samples",
               "With the option cache: samples that it did not have, and that were read from the dataset."),
    DL_COUNTER(copied_bytes, "copied_bytes", kCounter, kBytes, "Bytes copied over the bus to the device."),
    DL_COUNTER(num_workers, "num_workers", kGauge, "threads", "Worker threads."),
    DL_COUNTER(ready_batches, "ready_batches", kGauge, "batches", "Batches loaded and not yet delivered."),
    DL_COUNTER(leases_held, "leases_held", kGauge, "batches", "Batches held by consumers."),
    DL_COUNTER(arena_bytes, "arena_bytes", kGauge, kBytes, "Memory of the batch slots."),
    DL_COUNTER(held_bytes, "held_bytes", kGauge, kBytes, "All host memory that the loader holds."),
    DL_COUNTER(budget_bytes, "budget_bytes", kGauge, kBytes, "The limit in force, memory_budget."),
    DL_COUNTER(pinned_bytes, "pinned_bytes", kGauge, kBytes, "Page-locked host memory."),
    DL_COUNTER(device_bytes, "device_bytes", kGauge, kBytes, "Device memory that the loader holds."),
    DL_COUNTER(threads_abandoned, "threads_abandoned", kGauge, "threads",
               "Workers abandoned in a host read that did not return."),
};
#undef DL_COUNTER
constexpr size_t kCounterCount = std::size(kCounters);

constexpr const char* kStageTexts[] = {"loader",  "order",  "read",    "pack",  "copy to device",
                                       "no room", "device", "no work", "parked"};
static_assert(std::size(kStageTexts) == stage::kFirstPass);

void add_shape(MetricRow& row, const HistogramSum& sum) {
  row.count = sum.count;
  row.p50_ns = sum.quantile(0.5);
  row.p99_ns = sum.quantile(0.99);
  row.max_ns = sum.max_ns;
}

void add_sum(MetricRow& row, const HistogramSum& sum) {
  row.value = sum.sum_ns;
  add_shape(row, sum);
}

}  // namespace

const char* Metrics::stage_text(int32_t stage) const {
  return stage < stage::kFirstPass ? kStageTexts[stage]
                                   : passes_[static_cast<size_t>(stage - stage::kFirstPass)].text.c_str();
}

std::vector<std::string> Metrics::stage_names() const {
  std::vector<std::string> out;
  for (size_t s = 0; s < stage_count(); ++s) out.emplace_back(stage_text(static_cast<int32_t>(s)));
  return out;
}

// For all threads together, then each worker, then the consumer where it helps.
std::vector<Metrics::Spec> Metrics::make_specs() const {
  using enum Spec::Of;
  std::vector<Spec> specs = {{kNext, kThreadConsumer}, {kBetween, kThreadConsumer}};
  if (to_device_) {
    specs.push_back({kCopies, kThreadAll, 0, 0, "copy"});
    specs.push_back({kKernels, kThreadAll, 0, 0, "kernels"});
  }
  std::vector<int32_t> threads = {kThreadAll};
  for (size_t t = 0; t + 1 < watches_.size(); ++t) threads.push_back(static_cast<int32_t>(t));
  threads.push_back(kThreadConsumer);
  for (const int32_t thread : threads) {
    const auto add = [&](int32_t stage) { specs.push_back({kStage, thread, stage, 0, stage_text(stage)}); };
    add(stage::kOrder);
    add(stage::kRead);
    for (size_t pass = 0; pass < passes_.size(); ++pass) {
      const int32_t stage = stage::kFirstPass + static_cast<int32_t>(pass);
      const std::vector<std::string>& parts = passes_[pass].parts;
      for (size_t part = 0; part < parts.size(); ++part)
        specs.push_back({kPart, thread, stage, static_cast<int32_t>(part), parts[part].c_str()});
      if (parts.empty()) add(stage);
    }
    add(stage::kPack);
    if (to_device_) add(stage::kSend);
    if (thread == kThreadConsumer) continue;  // what it waits for is in next
    for (const int32_t stage : {stage::kNoRoom, stage::kNoWork, stage::kParked}) add(stage);
    if (to_device_) add(stage::kDevice);
    specs.push_back({kQueued, thread, 0, 0, "no CPU"});
    specs.push_back({kBlocked, thread, 0, 0, "storage"});
  }
  return specs;
}

int64_t Metrics::row_count() const {
  const std::vector<Spec>* specs = specs_.load(std::memory_order_acquire);
  return static_cast<int64_t>(kCounterCount + (specs == nullptr ? 0 : specs->size()));
}

// Not under mutex_: the loader's lock may be held for as long as a batch is opened.
LoaderStats Metrics::stats() const {
  if (const std::shared_ptr<const StatsSource> loader = loader_.lock(); loader != nullptr) {
    Result<LoaderStats> now = loader->stats();
    ThreadLock lock(mutex_);
    if (now.is_ok() && !closed_) return now.take();
    return last_;
  }
  ThreadLock lock(mutex_);
  return last_;
}

MetricRow Metrics::counter(size_t index, const LoaderStats& stats) const {
  const CounterSpec& spec = kCounters[index];
  MetricRow row;
  row.kind = spec.kind;
  row.name = spec.name;
  row.unit = spec.unit;
  row.doc = spec.doc;
  row.value = spec.value(stats);
  return row;
}

void Metrics::add_device(MetricRow& row, Spec::Of of) const {
  HistogramSum sum;
  {
    ThreadLock lock(mutex_);
    const bool copies = of == Spec::Of::kCopies;
    (copies ? copies_ : kernels_).add_to(sum);
    if (copies) row.bytes = copied_bytes_;
  }
  add_sum(row, sum);
}

void Metrics::add_stage(MetricRow& row, int32_t thread, int32_t stage) const {
  HistogramSum sum;
  for_threads(thread, [&](const Stopwatch& watch) {
    const Stopwatch::Times::Stage& here = watch.times()->stages[static_cast<size_t>(stage)];
    here.visits.add_to(sum);
    row.bytes += here.bytes.load(std::memory_order_relaxed);
    row.value += watch.total_ns(stage);
  });
  add_shape(row, sum);
}

// The pass's whole time, in the proportions of the rows whose parts were timed.
void Metrics::add_part(MetricRow& row, const Spec& spec) const {
  const auto pass = static_cast<size_t>(spec.stage - stage::kFirstPass);
  const size_t parts = std::min<size_t>(passes_[pass].parts.size(), PartClock::kMostParts);
  HistogramSum sum;
  double timed_ns = 0, whole_ns = 0;
  for_threads(spec.thread, [&](const Stopwatch& watch) {
    const Histogram* own = watch.times()->parts_of(pass);
    own[spec.part].add_to(sum);
    for (size_t part = 0; part < parts; ++part) timed_ns += static_cast<double>(own[part].sum_ns());
    whole_ns += static_cast<double>(watch.total_ns(spec.stage));
    row.bytes +=
        spec.part == 0
            ? watch.times()->stages[static_cast<size_t>(spec.stage)].bytes.load(std::memory_order_relaxed)
            : 0;
  });
  if (timed_ns > 0) row.value = static_cast<int64_t>(whole_ns * (static_cast<double>(sum.sum_ns) / timed_ns));
  add_shape(row, sum);
}

// Blocked: at work, without a CPU, and not for want of one. Copies to a device block by themselves.
void Metrics::add_off_cpu(MetricRow& row, const Spec& spec) const {
  for_threads(spec.thread, [&](const Stopwatch& watch) {
    ThreadTimes system;
    if (!watch.system_times(system)) return;
    if (spec.of == Spec::Of::kQueued) {
      row.value += system.queued_ns;
      return;
    }
    int64_t work_ns =
        watch.total_ns(stage::kOrder) + watch.total_ns(stage::kRead) + watch.total_ns(stage::kPack);
    for (size_t pass = 0; pass < passes_.size(); ++pass)
      work_ns += watch.total_ns(stage::kFirstPass + static_cast<int32_t>(pass));
    row.value += std::max<int64_t>(work_ns - system.cpu_ns - system.queued_ns, 0);
  });
}

MetricRow Metrics::measured(const Spec& spec) const {
  using enum Spec::Of;
  MetricRow row;
  row.kind = MetricKind::kDuration;
  row.unit = kNs;
  row.thread = spec.thread;
  row.part = spec.text;
  switch (spec.of) {
    case kNext:
      row.name = "next";
      row.doc = "Calls to next that delivered a batch, with earlier calls for it that timed out.";
      add_sum(row, next_times());
      return row;
    case kBetween:
      row.name = "between";
      row.doc = "From the end of a call to next to the start of the next call.";
      add_sum(row, between_times());
      return row;
    case kCopies:
    case kKernels:
      row.name = "device";
      row.doc = "Device time for a batch, by the device's clock.";
      add_device(row, spec.of);
      return row;
    case kStage:
      row.name = waits(spec.stage) ? "wait" : "work";
      row.doc = waits(spec.stage) ? "Waiting time of a thread that fills batches, by reason."
                                  : "Working time of a thread that fills batches, by stage.";
      add_stage(row, spec.thread, spec.stage);
      return row;
    case kPart:
      row.name = "work";
      row.doc = "Working time of a thread that fills batches, by stage.";
      add_part(row, spec);
      return row;
    case kQueued:
    case kBlocked:
      row.name = "off_cpu";
      row.doc = "Working time without a CPU: no CPU was free, or the thread waited for storage.";
      add_off_cpu(row, spec);
      return row;
  }
  return row;
}

// Parts of a pass are estimated from the rows that were timed, and what blocked from clocks that are read one after another: a new
// estimate may be lower. Readers take a sum of times that falls for a new start, so it stays until it is passed.
MetricRow Metrics::measured_at(size_t index) const {
  MetricRow row = measured((*specs_.load(std::memory_order_acquire))[index]);
  int64_t highest = highest_[index].load(std::memory_order_relaxed);
  while (row.value > highest &&
         !highest_[index].compare_exchange_weak(highest, row.value, std::memory_order_relaxed)) {
  }
  row.value = std::max(row.value, highest);
  return row;
}

HistogramSum Metrics::next_times() const {
  HistogramSum sum;
  ThreadLock lock(mutex_);
  next_.add_to(sum);
  return sum;
}

HistogramSum Metrics::between_times() const {
  HistogramSum sum;
  ThreadLock lock(mutex_);
  between_.add_to(sum);
  return sum;
}

MetricRow Metrics::row(int64_t index) const {
  const auto at = static_cast<size_t>(index);
  if (at < kCounterCount) return counter(at, stats());
  return measured_at(at - kCounterCount);
}

std::vector<MetricRow> Metrics::rows() const {
  std::vector<MetricRow> out;
  const LoaderStats now = stats();
  for (size_t c = 0; c < kCounterCount; ++c) out.push_back(counter(c, now));
  if (const std::vector<Spec>* specs = specs_.load(std::memory_order_acquire); specs != nullptr) {
    for (size_t at = 0; at < specs->size(); ++at) out.push_back(measured_at(at));
  }
  return out;
}

}  // namespace dataline
