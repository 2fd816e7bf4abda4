// `dataline bench`: measures the loader, and bare copy loops as this machine's limits.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <new>
#include <optional>
#include <string_view>

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
constexpr double kCheckSeconds = 20e-6;          // between readings of the clock

struct Round {
  double batches_per_s = 0;
  double samples_per_s = 0;
  double bytes_per_s = 0;
};

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
    warm_up();
    result_.peak_rss_bytes = peak_resident_bytes();
    make_yardsticks();
    measure();
    progress_.clear();
    return result_;
  }

 private:
  dl_status next(Batch* out) {
    dl_batch* raw = nullptr;
    dl_error error = DL_ERROR_INIT;
    const dl_status status = job_.check(dl_loader_next(loader_.get(), -1, &raw, &error), error);
    out->reset(raw);
    if (status != DL_END) return status;
    // The job has ended: start it again.
    job_.check(dl_loader_seek(loader_.get(), start_epoch_, start_step_, &error), error);
    return DL_END_OF_EPOCH;
  }

  dl_stats stats() const {
    auto stats = sized<dl_stats>();
    dl_error error = DL_ERROR_INIT;
    job_.check(dl_loader_stats(loader_.get(), &stats, &error), error);
    return stats;
  }

  void first_batch() {
    const auto start = Clock::now();
    dataset_ = job_.open();
    loader_ = job_.create(dataset_.get());
    if (metrics_port_) {
      server_.emplace(loader_.get(), *metrics_port_);
      progress_.say("metrics: http://127.0.0.1:" + std::to_string(server_->port()) + "/metrics");
    }
    Batch batch;
    dl_error error = DL_ERROR_INIT;
    job_.check(dl_loader_position(loader_.get(), &start_epoch_, &start_step_, &error), error);
    while (next(&batch) != DL_OK) {
    }
    result_.first_batch_ms = seconds_since(start) * 1e3;
    result_.device = device_name(loader_.get());
    // A CUDA driver allocates anonymous memory too, so the amount tells nothing with a device.
    set_in_memory_ = result_.device == "cpu" && is_set_in_memory();
  }

  void warm_up() {
    const auto start = Clock::now();
    const double cpu_before = process_cpu_seconds();
    const double min_seconds = std::min(seconds_, kMinWarmUp);
    bool epoch_done = false;
    int64_t batches = 0;
    for (double elapsed = 0; elapsed < min_seconds || (!epoch_done && elapsed < seconds_);
         elapsed = seconds_since(start)) {
      Batch batch;
      if (next(&batch) != DL_OK) {
        epoch_done = true;
      } else {
        ++batches;
      }
    }
    cores_ = (process_cpu_seconds() - cpu_before) / seconds_since(start);
    const double batch_seconds = seconds_since(start) / static_cast<double>(std::max<int64_t>(1, batches));
    batches_a_check_ = std::max<int64_t>(1, static_cast<int64_t>(kCheckSeconds / batch_seconds));
  }

  // Records the batches of one epoch for the gather, or as many as fit.
  void record_order() {
    const auto start = Clock::now();
    const int64_t steps = dl_loader_steps(loader_.get());
    for (int64_t step = 0; step != steps && !order_.full() && seconds_since(start) < seconds_; ++step) {
      Batch batch;
      while (next(&batch) != DL_OK) {
      }
      auto info = sized<dl_batch_info>();
      dl_error error = DL_ERROR_INIT;
      job_.check(dl_batch_get_info(batch.get(), &info, &error), error);
      if (info.samples > 0) order_.add(info.sample_indices, info.samples);
    }
  }

  // True if opening the dataset took as much anonymous memory as its rows (a .gz file, or io=memory).
  bool is_set_in_memory() const {
    int64_t bytes = 0;
    for (const dl_view& field : Views(dataset_.get())) bytes += std::max<int64_t>(0, field.bytes);
    const int64_t grown = anonymous_bytes() - anonymous_before_ - stats().arena_bytes;
    return bytes > 0 && grown / bytes >= dl_dataset_count(dataset_.get());
  }

  void make_yardsticks() {
    progress_.show("bench: taking the set's rows");
    try {
      record_order();
      if (order_.batches() == 0) throw Failure{.message = "this rank gets no samples"};
      const int64_t free_bytes = free_memory_bytes();
      const int64_t limit = std::min({kMaxTaken, free_bytes / 2, stats().budget_bytes});
      rows_ = take_rows(dataset_.get(), job_.options(),
                        set_in_memory_ ? Region::Pages::kHuge : Region::Pages::kSmall, limit, interrupts_);
      order_.finish(rows_->samples);
      if (rows_->samples < dl_dataset_count(dataset_.get())) {
        result_.remark = "gather and memcpy stand for the first " + grouped(rows_->samples) +
                         " samples, which fit free memory";
      }
      progress_.show("bench: trying gather loops");
      // As many threads as the loader kept cores busy: its workers, and the consumer if it helps them.
      result_.gather_threads = std::max<int64_t>(1, std::llround(cores_));
      yardsticks_.emplace(*rows_, order_, slot_count(), result_.gather_threads,
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

  int64_t option(const char* key) const {
    const char* text = "";
    dl_error error = DL_ERROR_INIT;
    job_.check(dl_options_get(job_.options(), key, &text, &error), error);
    return std::stoll(text);
  }

  // Slots of the loader. It prefetches at most an epoch, and one batch without workers.
  int64_t slot_count() const {
    const int64_t steps = std::max<int64_t>(1, dl_loader_steps(loader_.get()));
    const int64_t ahead = stats().num_workers == 0 ? 1 : std::min(option("prefetch_depth"), steps);
    return ahead + option("max_leases");
  }

  Round loader_round(double seconds) {
    const dl_stats before = stats();
    const auto start = Clock::now();
    double elapsed = 0;
    do {
      for (int64_t i = 0; i < batches_a_check_; ++i) {
        Batch batch;
        next(&batch);
      }
      elapsed = seconds_since(start);
    } while (elapsed < seconds);
    const dl_stats after = stats();
    const auto batches = static_cast<double>(after.batches - before.batches);
    const auto samples = static_cast<double>(after.samples - before.samples);
    const auto bytes = static_cast<double>(after.bytes - before.bytes);
    result_.batches += after.batches - before.batches;
    result_.seconds += elapsed;
    delivered_bytes_ += bytes;
    delivered_samples_ += samples;
    copied_bytes_ += static_cast<double>(after.copied_bytes - before.copied_bytes);
    wait_seconds_ += static_cast<double>(after.wait_ns - before.wait_ns) * 1e-9;
    return {batches / elapsed, samples / elapsed, bytes / elapsed};
  }

  void measure() {
    std::vector<double> batches, samples, bytes, gather, memcpy_bytes;
    const double round_seconds = seconds_ / kRounds;
    double cpu_seconds = 0, gather_cpu_seconds = 0, gather_samples = 0;
    for (int i = 0; i < kRounds; ++i) {
      progress_.show("bench: round " + std::to_string(i + 1) + " of " + std::to_string(kRounds) +
                     (samples.empty() ? "" : ", " + scaled(samples.back()) + " samples/s"));
      // Batches loaded while the yardsticks ran do not count.
      for (int64_t k = 0; k < slot_count(); ++k) {
        Batch batch;
        next(&batch);
      }
      const double cpu_before = process_cpu_seconds();
      const Round round = loader_round(round_seconds);
      cpu_seconds += process_cpu_seconds() - cpu_before;
      batches.push_back(round.batches_per_s);
      samples.push_back(round.samples_per_s);
      bytes.push_back(round.bytes_per_s);
      note_memory();
      if (!yardsticks_) continue;
      const double gather_cpu_before = process_cpu_seconds();
      gather.push_back(yardsticks_->gather_samples_per_s(round_seconds * kYardstickShare));
      gather_cpu_seconds += process_cpu_seconds() - gather_cpu_before;
      gather_samples += gather.back() * round_seconds * kYardstickShare;
      memcpy_bytes.push_back(yardsticks_->memcpy_bytes_per_s(round_seconds * kYardstickShare));
    }
    result_.samples_per_s = median(samples);
    result_.gb_per_s = median(bytes) * 1e-9;
    result_.us_per_batch = 1e6 / median(batches);
    result_.consumer_wait_percent = 100 * wait_seconds_ / result_.seconds;
    result_.num_workers = stats().num_workers;
    result_.warned = stats().warned;
    result_.stages = stage_shares(loader_.get());
    if (result_.device != "cpu") result_.bus_gb_per_s = copied_bytes_ / result_.seconds * 1e-9;
    if (delivered_bytes_ > 0) result_.cpu_s_per_gb = cpu_seconds / (delivered_bytes_ * 1e-9);
    if (!yardsticks_ || delivered_samples_ <= 0) return;
    result_.gather_gb_per_s = median(gather) * delivered_bytes_ / delivered_samples_ * 1e-9;
    result_.memcpy_gb_per_s = median(memcpy_bytes) * 1e-9;
    if (cpu_seconds > 0 && gather_samples > 0) {
      result_.cpu_ratio = (gather_cpu_seconds / gather_samples) / (cpu_seconds / delivered_samples_);
    }
  }

  // Before the copy for the yardsticks is made: it is not the loader's memory.
  void note_memory() {
    if (rows_) return;
    result_.peak_rss_bytes = std::max(result_.peak_rss_bytes, peak_resident_bytes());
  }

  const Interrupts& interrupts_;
  Progress progress_;
  Job job_;
  const double seconds_;
  const std::optional<int64_t> metrics_port_;
  RowOrder order_;
  std::optional<StoredRows> rows_;
  std::optional<Yardsticks> yardsticks_;
  Dataset dataset_;
  Loader loader_;
  std::optional<MetricsServer> server_;  // ends before the loader
  BenchResult result_;
  int64_t start_epoch_ = 0;
  int64_t start_step_ = 0;
  int64_t anonymous_before_ = 0;
  bool set_in_memory_ = false;
  int64_t batches_a_check_ = 1;
  double delivered_bytes_ = 0;
  double delivered_samples_ = 0;
  double copied_bytes_ = 0;  // to the device
  double cores_ = 1;         // kept busy by the loader
  double wait_seconds_ = 0;
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
