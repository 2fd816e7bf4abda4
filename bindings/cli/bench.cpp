// `dataline bench`: measures the loader, and bare copy loops as this machine's limits.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <new>
#include <optional>
#include <set>
#include <string_view>

#include "bindings/cli/bench_consumer.h"
#include "bindings/cli/bench_report.h"
#include "bindings/cli/clock.h"
#include "bindings/cli/commands.h"
#include "bindings/cli/gather.h"
#include "bindings/cli/job.h"
#include "bindings/cli/metrics_server.h"
#include "bindings/cli/output.h"
#include "bindings/cli/plan.h"
#include "bindings/cli/system.h"
#include "bindings/cli/text.h"
#include "bindings/cli/views.h"

namespace dataline::cli {
namespace {

constexpr double kDefaultSeconds = 3;
constexpr int64_t kLastPort = 65535;
constexpr int kRounds = 15;
// The warm-up delivers one epoch. It takes at least this long, and at most as long as the measurement.
constexpr double kMinWarmUp = 0.2;
constexpr double kTrialSeconds = 0.008;          // per gather loop, three times
constexpr double kYardstickShare = 0.4;          // of the time of a loader round, per yardstick
constexpr int64_t kMaxRecorded = 8'000'000;      // rows in the order that the bare gather repeats
constexpr int64_t kMaxTaken = int64_t{8} << 30;  // bytes

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

// Of all the time that threads filled batches; empty without stats=full.
std::vector<StageShare> stage_shares(const dl_loader* loader) {
  dl_metrics* made = nullptr;
  dl_error error = DL_ERROR_INIT;
  if (dl_loader_metrics(loader, &made, &error) != DL_OK) throw Failure{.message = error.message};
  const Metrics metrics(made);
  std::vector<StageShare> shares;
  double total_ns = 0;
  for (int64_t at = 0; at < dl_metrics_count(metrics.get()); ++at) {
    auto row = sized<dl_metric>();
    if (dl_metrics_at(metrics.get(), at, &row, &error) != DL_OK) throw Failure{.message = error.message};
    if (row.thread != DL_THREAD_ALL || std::string_view(row.name) != "work") continue;
    shares.push_back({row.part, static_cast<double>(row.value)});
    total_ns += static_cast<double>(row.value);
  }
  for (StageShare& share : shares) share.percent *= total_ns > 0 ? 100 / total_ns : 0;
  return shares;
}

class Bench {
 public:
  Bench(const Request& request, const Interrupts& interrupts)
      : interrupts_(interrupts),
        job_(request, interrupts, progress_),
        seconds_(request.seconds("seconds").value_or(kDefaultSeconds)),
        metrics_port_(request.count("metrics", 0)),
        order_(kMaxRecorded) {
    if (metrics_port_.value_or(0) > kLastPort)
      throw usage_failure("--metrics: expected a port up to 65535, got " + std::to_string(*metrics_port_),
                          "bench");
  }

  BenchResult run() {
    progress_.show("bench: first batch");
    anonymous_before_ = anonymous_bytes();
    first_batch();
    progress_.show("bench: warm-up");
    consumer_->warm_up(std::min(seconds_, kMinWarmUp), seconds_);
    const Round trial = consumer_->round(seconds_ / kRounds, {});
    result_.peak_rss_bytes = peak_resident_bytes();
    make_yardsticks(trial.cpu_seconds / trial.seconds);
    measure();
    report();
    progress_.clear();
    return result_;
  }

 private:
  void first_batch() {
    const auto start = Clock::now();
    dataset_ = job_.open();
    consumer_.emplace(job_, job_.create(dataset_.get()));
    if (metrics_port_) {
      server_.emplace(consumer_->loader(), *metrics_port_);
      progress_.say("metrics: http://127.0.0.1:" + std::to_string(server_->port()) + "/metrics");
    }
    Batch batch;
    while (!consumer_->next(&batch)) {
    }
    result_.first_batch_ms = seconds_since(start) * 1e3;
    result_.device = device_name(consumer_->loader());
    // A CUDA driver allocates anonymous memory too, so the amount tells nothing with a device.
    set_in_memory_ = result_.device == "cpu" && is_set_in_memory();
  }

  // Records the batches of one epoch for the gather, or as many as fit, and the slots in which they lay: a loader fills again the
  // slot that it filled last, if it can, and so must the gather.
  void record_order() {
    const auto start = Clock::now();
    const int64_t steps = dl_loader_steps(consumer_->loader());
    for (int64_t step = 0; step != steps && !order_.full() && seconds_since(start) < seconds_; ++step) {
      Batch batch;
      while (!consumer_->next(&batch)) {
      }
      auto info = sized<dl_batch_info>();
      dl_error error = DL_ERROR_INIT;
      job_.check(dl_batch_get_info(batch.get(), &info, &error), error);
      if (info.samples > 0) order_.add(info.sample_indices, info.samples);
      if (const Views views(batch.get()); views.size() > 0) slots_.insert(views[0].data);
    }
  }

  // True if opening the dataset took as much anonymous memory as its rows (a .gz file, or io=memory).
  bool is_set_in_memory() const {
    int64_t bytes = 0;
    for (const dl_view& field : Views(dataset_.get())) bytes += std::max<int64_t>(0, field.bytes);
    const int64_t grown = anonymous_bytes() - anonymous_before_ - consumer_->stats().arena_bytes;
    return bytes > 0 && grown / bytes >= dl_dataset_count(dataset_.get());
  }

  // `cores`: how many the loader and its consumer kept busy. The gather gets as many threads.
  void make_yardsticks(double cores) {
    progress_.show("bench: copying the dataset's rows");
    try {
      record_order();
      if (order_.batches() == 0) throw Failure{.message = "this rank gets no samples"};
      const int64_t free_bytes = free_memory_bytes();
      const int64_t limit = std::min({kMaxTaken, free_bytes / 2, consumer_->stats().budget_bytes});
      rows_ = take_rows(dataset_.get(), job_.options(),
                        set_in_memory_ ? Region::Pages::kHuge : Region::Pages::kSmall, limit, interrupts_);
      order_.finish(rows_->samples);
      if (rows_->samples < dl_dataset_count(dataset_.get())) {
        result_.remark = "gather and memcpy copied the first " + grouped(rows_->samples) +
                         " samples, which fit into free memory";
      }
      progress_.show("bench: trying gather loops");
      result_.gather_threads = gather_threads(cores, usable_cores());
      consumer_->settle(seconds_ * kYardstickShare / kRounds);
      yardsticks_.emplace(*rows_, order_, static_cast<int64_t>(slots_.size()), result_.gather_threads,
                          std::min(kTrialSeconds, seconds_ / kRounds));
      return;
    } catch (const Failure& failure) {
      result_.remark = "gather and memcpy were not measured: " + failure.message;
    } catch (const std::bad_alloc&) {
      result_.remark = "gather and memcpy were not measured: out of memory";
    }
    yardsticks_.reset();
    rows_.reset();
  }

  void show(int round, const Delivered& in_round) {
    Delivered all = {measured_.seconds + in_round.seconds, measured_.steps + in_round.steps,
                     measured_.samples + in_round.samples, measured_.bytes + in_round.bytes,
                     measured_.waited_seconds + in_round.waited_seconds};
    pace_.note(all);
    int64_t epoch = 0, step = 0;
    consumer_->position(&epoch, &step);
    const int64_t steps = dl_loader_steps(consumer_->loader());
    const double planned = seconds_ * (yardsticks_ ? 1 + 2 * kYardstickShare : 1);
    const double elapsed = seconds_since(measuring_since_);
    progress_.show({.position = "bench: round " + std::to_string(round + 1) + " of " +
                                std::to_string(kRounds) + ", epoch " + grouped(epoch) + ", step " +
                                grouped(step) + (steps > 0 ? " of " + grouped(steps) : ""),
                    .done = elapsed / planned,
                    .elapsed_s = elapsed,
                    .left_s = std::max(0.0, planned - elapsed),
                    .samples_per_s = pace_.samples_per_s(),
                    .waited_share = pace_.waited_share(),
                    .bytes_per_s = pace_.bytes_per_s()});
  }

  void loader_round(int number) {
    std::function<void(const Delivered&)> seen;
    if (progress_.live()) seen = [&](const Delivered& in_round) { show(number, in_round); };
    const Round round = consumer_->round(seconds_ / kRounds, seen);
    const Delivered now = {round.seconds, round.delivered(&dl_stats::batches),
                           round.delivered(&dl_stats::samples), round.delivered(&dl_stats::bytes),
                           round.delivered(&dl_stats::wait_ns) * 1e-9};
    for (const auto figure : {&Delivered::seconds, &Delivered::steps, &Delivered::samples, &Delivered::bytes,
                              &Delivered::waited_seconds}) {
      measured_.*figure += now.*figure;
    }
    result_.batches += static_cast<int64_t>(now.steps);
    batches_per_s_.push_back(now.steps / now.seconds);
    samples_per_s_.push_back(now.samples / now.seconds);
    bytes_per_s_.push_back(now.bytes / now.seconds);
    cpu_seconds_ += round.cpu_seconds;
    copied_bytes_ += round.delivered(&dl_stats::copied_bytes);
  }

  void yardstick_round() {
    const double seconds = seconds_ / kRounds * kYardstickShare;
    consumer_->settle(seconds);
    const Gathered gathered = yardsticks_->gather(seconds);
    gather_samples_per_s_.push_back(gathered.samples_per_s);
    gather_samples_ += gathered.samples;
    gather_cpu_seconds_ += gathered.cpu_seconds;
    memcpy_bytes_per_s_.push_back(yardsticks_->memcpy_bytes_per_s(seconds));
  }

  void measure() {
    measuring_since_ = Clock::now();
    for (int i = 0; i < kRounds; ++i) {
      consumer_->take(consumer_->slots());  // loaded while the yardsticks ran: they do not count
      loader_round(i);
      // Before the copy for the yardsticks is made: it is not the loader's memory.
      if (!rows_) result_.peak_rss_bytes = std::max(result_.peak_rss_bytes, peak_resident_bytes());
      if (yardsticks_) yardstick_round();
    }
  }

  void report() {
    const dl_stats stats = consumer_->stats();
    result_.seconds = measured_.seconds;
    result_.samples_per_s = median(samples_per_s_);
    result_.gb_per_s = median(bytes_per_s_) * 1e-9;
    result_.us_per_batch = 1e6 / median(batches_per_s_);
    result_.consumer_wait_percent = 100 * measured_.waited_seconds / measured_.seconds;
    result_.num_workers = stats.num_workers;
    result_.warned = stats.warned;
    result_.cache_read = stats.cache_read;
    result_.cache_made = stats.cache_made;
    result_.stages = stage_shares(consumer_->loader());
    if (const dl_tuned tuned = consumer_->tuned(); tuned.mode != DL_TUNE_OFF) result_.tuned = tuned;
    result_.cores_busy = cpu_seconds_ / measured_.seconds;
    if (result_.device != "cpu") result_.bus_gb_per_s = copied_bytes_ / measured_.seconds * 1e-9;
    if (measured_.bytes <= 0) return;
    result_.cpu_s_per_gb = cpu_seconds_ / (measured_.bytes * 1e-9);
    if (!yardsticks_ || measured_.samples <= 0) return;
    const double bytes_per_sample = measured_.bytes / measured_.samples;
    result_.gather_gb_per_s = median(gather_samples_per_s_) * bytes_per_sample * 1e-9;
    result_.memcpy_gb_per_s = median(memcpy_bytes_per_s_) * 1e-9;
    result_.gather_cpu_s_per_gb = gather_cpu_seconds_ / (gather_samples_ * bytes_per_sample * 1e-9);
  }

  const Interrupts& interrupts_;
  Progress progress_;
  Job job_;
  const double seconds_;
  const std::optional<int64_t> metrics_port_;
  RowOrder order_;
  std::set<const void*> slots_;  // where the batches of that order lay
  std::optional<StoredRows> rows_;
  std::optional<Yardsticks> yardsticks_;
  Dataset dataset_;
  std::optional<Consumer> consumer_;
  std::optional<MetricsServer> server_;  // ends before the loader
  BenchResult result_;
  int64_t anonymous_before_ = 0;
  bool set_in_memory_ = false;

  Clock::time_point measuring_since_;
  Delivered measured_;  // in all rounds of the loader
  Pace pace_;
  double cpu_seconds_ = 0;
  double copied_bytes_ = 0;  // to the device
  std::vector<double> batches_per_s_, samples_per_s_, bytes_per_s_;
  std::vector<double> gather_samples_per_s_, memcpy_bytes_per_s_;
  double gather_samples_ = 0;
  double gather_cpu_seconds_ = 0;
};

}  // namespace

int run_bench(const Request& request, const Interrupts& interrupts) {
  const BenchResult result = Bench(request, interrupts).run();
  if (request.has("json") && !result.remark.empty()) Progress().say(result.remark);
  if (request.has("json") && result.warned > 0) Progress().say(warned_text(result.warned));
  print(request.has("json") ? bench_json(result) : bench_text(result), interrupts);
  return 0;
}

}  // namespace dataline::cli
