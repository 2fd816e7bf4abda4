// SPDX-License-Identifier: Apache-2.0
#include "bindings/cli/report/measure.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>

#include "bindings/cli/clock.h"
#include "bindings/cli/commands.h"
#include "bindings/cli/doctor/machine.h"
#include "bindings/cli/job.h"
#include "bindings/cli/plan.h"
#include "bindings/cli/system.h"
#include "bindings/cli/text.h"

namespace dataline::cli {
namespace {

constexpr size_t kTraceBytes = size_t{64} << 20;
constexpr int64_t kShownBad = 20;

class Measurement {
 public:
  Measurement(const Request& request, const Interrupts& interrupts, Progress& progress)
      : request_(request), interrupts_(interrupts), progress_(progress), job_(request, interrupts, progress) {
    job_.set("stats", "full");
  }

  ReportData run(double seconds, double consumer_seconds) {
    dataset_ = job_.open();
    loader_ = job_.create(dataset_.get());
    dl_metrics* metrics = nullptr;
    dl_error error = DL_ERROR_INIT;
    job_.check(dl_loader_metrics(loader_.get(), &metrics, &error), error);
    metrics_.reset(metrics);
    start_trace();
    consume(seconds, consumer_seconds);
    stop_trace();
    data_.timeline.add(trace_.text);
    data_.subject = request_.uri();
    read_rows();
    read_options();
    read_bad_samples();
    data_.plan = plan_table(plan_of(loader_.get(), {}));
    data_.memcpy_gb_per_s = copy_rate();
    return std::move(data_);
  }

 private:
  void start_trace() {
    auto sink = sized<dl_trace_sink>();
    sink.context = &trace_;
    sink.write = [](void* context, const char* text, size_t bytes) -> int32_t {
      auto* taken = static_cast<Trace*>(context);
      try {
        if (!taken->full) taken->text.append(text, bytes);
      } catch (...) {
        return ENOMEM;
      }
      if (taken->text.size() > kTraceBytes) taken->full = true;
      return 0;
    };
    dl_error error = DL_ERROR_INIT;
    job_.check(dl_loader_trace_start(loader_.get(), nullptr, &sink, &error), error);
    traces_ = true;
  }

  // Twice is fine. Where there was no memory for all of it, its begin is enough.
  void stop_trace() {
    dl_error error = DL_ERROR_INIT;
    const dl_status stopped = traces_ ? dl_loader_trace_stop(loader_.get(), &error) : DL_OK;
    traces_ = false;
    if (stopped != DL_ERR_IO && stopped != DL_ERR_NO_MEMORY) job_.check(stopped, error);
  }

  void consume(double seconds, double consumer_seconds) {
    const double cpu_before = process_cpu_seconds();
    const auto begin = Clock::now();
    while (seconds_since(begin) < seconds) {
      if (interrupts_.came()) throw Interrupted{interrupts_.signal()};
      dl_batch* raw = nullptr;
      dl_error error = DL_ERROR_INIT;
      const dl_status status = job_.check(dl_loader_next(loader_.get(), -1, &raw, &error), error);
      const Batch batch(raw);
      if (status == DL_END) break;
      if (traces_ && trace_.full) {
        data_.traced_seconds = seconds_since(begin);
        stop_trace();
      }
      if (status == DL_OK && consumer_seconds > 0)
        std::this_thread::sleep_for(std::chrono::duration<double>(consumer_seconds));
      if (progress_.due())
        progress_.show("report: " + fixed(seconds_since(begin), 0) + " of " + fixed(seconds, 0) + " s");
    }
    data_.seconds = seconds_since(begin);
    data_.cpu_seconds = process_cpu_seconds() - cpu_before;
    data_.peak_rss_bytes = peak_resident_bytes();
  }

  void read_rows() {
    for (int64_t i = 0; i < dl_metrics_count(metrics_.get()); ++i) {
      auto row = sized<dl_metric>();
      dl_error error = DL_ERROR_INIT;
      job_.check(dl_metrics_at(metrics_.get(), i, &row, &error), error);
      data_.rows.push_back({row.name, row.part, row.unit, row.thread, row.value, row.count, row.bytes,
                            row.p50_ns, row.p99_ns, row.max_ns});
    }
    for (int64_t i = 0; i < dl_metrics_stall_count(metrics_.get()); ++i) {
      auto stall = sized<dl_stall>();
      dl_error error = DL_ERROR_INIT;
      job_.check(dl_metrics_stall_at(metrics_.get(), i, &stall, &error), error);
      data_.stalls.push_back({stall.epoch, stall.step, stall.wait_ns, stall.cause});
    }
    data_.samples = static_cast<double>(data_.value("samples"));
    data_.bytes = static_cast<double>(data_.value("bytes"));
    data_.workers = data_.value("num_workers");
    data_.cpus = usable_cpus();
  }

  void read_options() {
    for (const dl_option_info& option : option_table()) {
      const char* value = "";
      if (std::string_view(option.key) == "stats" || is_array_option(option)) continue;
      if (dl_options_get(job_.options(), option.key, &value, nullptr) != DL_OK || value == nullptr) continue;
      data_.options.push_back({option.key, value, option.default_value});
    }
  }

  void read_bad_samples() {
    data_.bad_count = dl_loader_bad_sample_count(loader_.get());
    for (int64_t i = 0; i < std::min(data_.bad_count, kShownBad); ++i) {
      auto bad = sized<dl_bad_sample>();
      dl_error error = DL_ERROR_INIT;
      job_.check(dl_loader_bad_sample_at(loader_.get(), i, &bad, &error), error);
      data_.bad_samples.push_back("sample " + std::to_string(bad.index) + ": " + bad.message);
    }
  }

  // What one thread copies, of 64 MiB that no cache holds.
  static double copy_rate() {
    constexpr size_t kBytes = size_t{64} << 20;
    const std::vector<char> from(kBytes, 1);
    std::vector<char> to(kBytes);
    double best = 0;
    for (int round = 0; round < 3; ++round) {
      const auto begin = Clock::now();
      std::memcpy(to.data(), from.data(), kBytes);
      best = std::max(best, static_cast<double>(kBytes) / seconds_since(begin) * 1e-9);
    }
    return to[kBytes / 2] == 1 ? best : 0;
  }

  const Request& request_;
  const Interrupts& interrupts_;
  Progress& progress_;
  Job job_;
  Dataset dataset_;
  // Written by one thread of the loader at a time; `full` tells the consumer to end it.
  struct Trace {
    std::string text;
    std::atomic<bool> full{false};
  };
  Trace trace_;  // outlives the loader
  bool traces_ = false;
  Loader loader_;
  Metrics metrics_;
  ReportData data_;
};

}  // namespace

ReportData measure(const Request& request, const Interrupts& interrupts, Progress& progress, double seconds,
                   double consumer_seconds) {
  return Measurement(request, interrupts, progress).run(seconds, consumer_seconds);
}

}  // namespace dataline::cli
