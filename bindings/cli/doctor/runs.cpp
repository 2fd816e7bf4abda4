// SPDX-License-Identifier: Apache-2.0
#include "bindings/cli/doctor/runs.h"

#include <algorithm>
#include <deque>
#include <numeric>
#include <string_view>
#include <thread>

#include "bindings/cli/clock.h"
#include "bindings/cli/job.h"
#include "bindings/cli/system.h"

namespace dataline::cli {
namespace {

using Metrics = std::unique_ptr<dl_metrics, Call<dl_metrics_destroy>>;

constexpr int64_t kSameBatches = 8;
constexpr double kWarmUpShare = 0.4;
// Batches come as the workers end them: a run of fewer than a few each counts one too many or too few. Where a batch takes long, a run
// does so too, but not without end.
constexpr int64_t kStepsAWorker = 3;
constexpr double kMostTimesLonger = 5;

void consume(const ConsumerPlan& consumer) {
  if (consumer.seconds <= 0) return;
  const auto start = Clock::now();
  if (!consumer.burns_cpu) std::this_thread::sleep_for(std::chrono::duration<double>(consumer.seconds));
  while (seconds_since(start) < consumer.seconds) {
  }
}

class TimedRun {
 public:
  TimedRun(const RunBase& base, const RunPlan& plan)
      : plan_(plan), job_(base.request, base.interrupts, base.progress) {
    job_.set("stats", "full");
    job_.set("epochs", "0");
    job_.set("tune", "off");  // runs are compared: what differs between them has to be known
    for (const Setting& setting : plan.settings) job_.set(setting.key.c_str(), setting.value);
    if (plan.same_samples) take_few_samples(base.dataset.get());
    loader_ = job_.create(subset_ ? subset_.get() : base.dataset.get());
    dl_metrics* metrics = nullptr;
    dl_error error = DL_ERROR_INIT;
    job_.check(dl_loader_metrics(loader_.get(), &metrics, &error), error);
    metrics_.reset(metrics);
  }

  Run run(double seconds) {
    // What is in flight at the start was loaded while nobody consumed: it does not count.
    const int64_t ahead = depth() + option("max_leases");
    const int64_t pass = plan_.same_samples ? kSameBatches : 0;
    const auto warm_up = Clock::now();
    for (int64_t i = 0; i < ahead + pass || seconds_since(warm_up) < kWarmUpShare * seconds; ++i) {
      step();
      if (i >= pass && seconds_since(warm_up) > seconds) break;
    }
    waited_ = stepped_ = 0;
    steps_ = 0;
    const dl_stats before = stats();
    const Shares shares_before = shares();
    const double cpu_before = process_cpu_seconds();
    const auto start = Clock::now();
    const int64_t least = kStepsAWorker * std::clamp<int64_t>(before.num_workers, 1, usable_cores());
    do step();
    while (seconds_since(start) < seconds ||
           (steps_ < least && seconds_since(start) < kMostTimesLonger * seconds));
    const double elapsed = seconds_since(start);
    Run out = figures(before, shares_before, elapsed);
    out.cpus_busy = (process_cpu_seconds() - cpu_before) / elapsed;
    return out;
  }

 private:
  struct Shares {
    double work = 0, read = 0, storage = 0, no_cpu = 0, bytes_read = 0, heaviest = 0, uneven = 0;
    double p50_ns = 0, max_ns = 0;  // of the heaviest
    std::string heaviest_part{};
  };

  // A dataset of the samples of the first batches alone.
  void take_few_samples(dl_dataset* dataset) {
    const int64_t count = std::min(dl_dataset_count(dataset), kSameBatches * option("batch_size"));
    if (count <= 0) throw Failure{.message = "a set of unknown length has no subset"};
    std::vector<int64_t> indices(static_cast<size_t>(count));
    std::iota(indices.begin(), indices.end(), 0);
    dl_dataset* subset = nullptr;
    dl_error error = DL_ERROR_INIT;
    job_.check(
        dl_dataset_subset(dataset, indices.data(), count, nullptr, nullptr, job_.options(), &subset, &error),
        error);
    subset_.reset(subset);
  }

  int64_t depth() const {
    auto tuned = sized<dl_tuned>();
    dl_error error = DL_ERROR_INIT;
    job_.check(dl_loader_tuned(loader_.get(), &tuned, &error), error);
    return tuned.prefetch_depth;
  }

  int64_t option(const char* key) const {
    const char* text = "";
    dl_error error = DL_ERROR_INIT;
    job_.check(dl_options_get(job_.options(), key, &text, &error), error);
    return std::atoll(text);
  }

  dl_stats stats() const {
    auto stats = sized<dl_stats>();
    dl_error error = DL_ERROR_INIT;
    job_.check(dl_loader_stats(loader_.get(), &stats, &error), error);
    return stats;
  }

  // One batch, and what the consumer does with it.
  void step() {
    dl_batch* raw = nullptr;
    dl_error error = DL_ERROR_INIT;
    const auto asked = Clock::now();
    while (job_.check(dl_loader_next(loader_.get(), -1, &raw, &error), error) != DL_OK) {
    }
    waited_ += seconds_since(asked);
    const auto got = Clock::now();
    held_.emplace_back(raw);
    consume(plan_.consumer);
    while (static_cast<int64_t>(held_.size()) >= std::max<int64_t>(1, plan_.consumer.holds))
      held_.pop_front();
    stepped_ += seconds_since(got);
    ++steps_;
  }

  Shares shares() const {
    Shares out;
    for (int64_t i = 0; i < dl_metrics_count(metrics_.get()); ++i) {
      auto row = sized<dl_metric>();
      dl_error error = DL_ERROR_INIT;
      job_.check(dl_metrics_at(metrics_.get(), i, &row, &error), error);
      if (row.thread != DL_THREAD_ALL) continue;
      const std::string_view name = row.name, part = row.part;
      const auto value = static_cast<double>(row.value);
      if (name == "off_cpu") (part == "storage" ? out.storage : out.no_cpu) += value;
      if (name != "work") continue;
      out.work += value;
      if (part == "read") {
        out.read += value;
        out.bytes_read += static_cast<double>(row.bytes);
      }
      if (value > out.heaviest && row.p50_ns > 0) {
        out.heaviest = value;
        out.heaviest_part = part;
        out.p50_ns = static_cast<double>(row.p50_ns);
        out.max_ns = static_cast<double>(row.max_ns);
        out.uneven = static_cast<double>(row.p99_ns) / out.p50_ns;
      }
    }
    return out;
  }

  Run figures(const dl_stats& before, const Shares& start, double elapsed) const {
    const dl_stats after = stats();
    const Shares end = shares();
    const double work = std::max(1.0, end.work - start.work);
    const auto samples = static_cast<double>(after.samples - before.samples);
    return {
        .name = plan_.name,
        .samples_per_s = samples / elapsed,
        .wait_share = waited_ / elapsed,
        .step_ms = plan_.consumer.seconds > 0 ? 1e3 * stepped_ / static_cast<double>(steps_) : 0,
        .samples_a_step = samples / static_cast<double>(steps_),
        .workers_busy = static_cast<double>(after.worker_cpu_ns - before.worker_cpu_ns) * 1e-9 / elapsed,
        .read_share = std::min(1.0, (end.read - start.read) / work),
        .storage_share = std::min(1.0, (end.storage - start.storage) / work),
        .no_cpu_share = std::min(1.0, (end.no_cpu - start.no_cpu) / work),
        .uneven = end.uneven,
        .mean_to_middle = (end.heaviest - (start.heaviest_part == end.heaviest_part ? start.heaviest : 0)) /
                          std::max(1.0, end.p50_ns * samples),
        .longest_to_middle = end.max_ns / std::max(1.0, end.p50_ns),
        .heaviest = end.heaviest_part,
        .heaviest_share = end.heaviest / std::max(1.0, end.work),
        .read_bytes_per_s = (end.bytes_read - start.bytes_read) / elapsed,
        .delivered_bytes_per_s = static_cast<double>(after.bytes - before.bytes) / elapsed,
        .num_workers = after.num_workers,
        .prefetch_depth = depth(),
        .lease_copies = after.lease_copies - before.lease_copies,
        .arena_bytes = after.arena_bytes,
        .held_bytes = after.held_bytes,
        .budget_bytes = after.budget_bytes,
        .pinned_bytes = after.pinned_bytes,
        .device_bytes = after.device_bytes};
  }

  const RunPlan& plan_;
  Job job_;
  Dataset subset_;  // null: the whole set
  Loader loader_;
  Metrics metrics_;
  std::deque<Batch> held_;  // released before the loader ends
  double waited_ = 0, stepped_ = 0;
  int64_t steps_ = 0;
};

}  // namespace

RunBase::RunBase(const Request& asked, const Interrupts& signals, Progress& shown)
    : request(asked), interrupts(signals), progress(shown), job(asked, signals, shown), dataset(job.open()) {}

Run run_once(const RunBase& base, const RunPlan& plan, double seconds) {
  return TimedRun(base, plan).run(seconds);
}

Run median_run(const std::vector<Run>& rounds) {
  Run out = rounds.back();
  const auto median = [&](auto member) {
    std::vector<double> values;
    for (const Run& round : rounds) values.push_back(round.*member);
    std::sort(values.begin(), values.end());
    out.*member = values[values.size() / 2];
  };
  // Long waits and slow samples that are rare are in few of the rounds.
  const auto mean = [&](auto member) {
    out.*member = 0;
    for (const Run& round : rounds) out.*member += round.*member / static_cast<double>(rounds.size());
  };
  for (auto member : {&Run::samples_per_s, &Run::step_ms, &Run::samples_a_step, &Run::workers_busy,
                      &Run::cpus_busy, &Run::read_share, &Run::storage_share, &Run::no_cpu_share,
                      &Run::uneven, &Run::read_bytes_per_s, &Run::delivered_bytes_per_s})
    median(member);
  for (auto member : {&Run::wait_share, &Run::mean_to_middle, &Run::longest_to_middle}) mean(member);
  return out;
}

}  // namespace dataline::cli
