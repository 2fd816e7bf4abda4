// The consumer's side: how long the device waits between steps, the cost of a batch in the consumer's thread, and that
// memory use stays constant.
// SPDX-License-Identifier: Apache-2.0
#include <poll.h>

#include <algorithm>
#include <cmath>
#include <ctime>

#include "bench/end_to_end/files.h"
#include "bench/gpu/gpu.h"

namespace bench {

namespace {

int64_t thread_cpu_ns() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

// Work of a known length for the device, queued: a step of training.
class Step {
 public:
  Step(const Cuda& cuda, const GpuSettings& settings, void* stream, double seconds)
      : cuda_(cuda), bytes_(64 * settings.mib()), stream_(stream), memory_(cuda.allocate(bytes_)) {
    const double one = seconds_each(
        settings.seconds / 2, 4, [&](int64_t) { cuda_.set(memory_, bytes_, stream_); },
        [&] { cuda_.synchronize(stream_); });
    parts_ = settings.small ? 2 : std::max(int64_t{1}, static_cast<int64_t>(std::ceil(seconds / one)));
    seconds_ = one * static_cast<double>(parts_);
  }
  ~Step() { cuda_.release(memory_); }
  Step(const Step&) = delete;
  Step& operator=(const Step&) = delete;

  void queue() const {
    for (int64_t i = 0; i < parts_; ++i) cuda_.set(memory_, bytes_, stream_);
  }
  double seconds() const { return seconds_; }

 private:
  const Cuda& cuda_;
  int64_t bytes_, parts_ = 1;
  void* stream_;
  uint64_t memory_;
  double seconds_ = 0;
};

// Until `next` would not wait.
void await_batch(dl_loader* loader) {
  dl_error error = DL_ERROR_INIT;
  intptr_t handle = -1;
  if (dl_loader_wait_handle(loader, &handle, &error) != DL_OK) fail(error.message);
  pollfd asked{static_cast<int>(handle), POLLIN, 0};
  if (poll(&asked, 1, 60'000) != 1) fail("no batch within a minute");
}

}  // namespace

std::unique_ptr<Job> rows_job(const GpuSettings& settings, int64_t rows, int64_t batch_bytes,
                              OptionList options, bool host) {
  const std::string file = random_rows_file(settings.data_dir, rows, settings.row_bytes());
  options.insert(options.end(), {{"batch_size", std::to_string(batch_bytes / settings.row_bytes())},
                                 {"shuffle", "full"},
                                 {"last_batch", "drop"}});
  if (!host) options.insert(options.end(), {{"device", "cuda:0"}, {"cuda_library", settings.cuda_library}});
  return std::make_unique<Job>("npy:" + file, options);
}

dl_stats stats_of(const Job& job) {
  dl_error error = DL_ERROR_INIT;
  dl_stats stats{};
  stats.struct_size = sizeof stats;
  if (dl_loader_stats(job.loader(), &stats, &error) != DL_OK) fail(error.message);
  return stats;
}

namespace {

// Steps in a stream, each between two events.
class TimedSteps {
 public:
  TimedSteps(const Cuda& cuda, int64_t count) : cuda_(cuda) {
    for (int64_t i = 0; i < 2 * count; ++i) events_.push_back(cuda.make_event());
  }
  ~TimedSteps() {
    for (void* event : events_) cuda_.end_event(event);
  }
  TimedSteps(const TimedSteps&) = delete;
  TimedSteps& operator=(const TimedSteps&) = delete;

  // The share of the time in which the stream had none of the steps to work on. `one` queues a step by calling what it is given.
  template <typename One>
  double idle(void* stream, const Step& step, One one) const {
    cuda_.synchronize(stream);
    for (size_t i = 0; i < events_.size(); i += 2) {
      one([&] {
        cuda_.record(events_[i], stream);
        step.queue();
        cuda_.record(events_[i + 1], stream);
      });
    }
    cuda_.synchronize(stream);
    double idle = 0;
    for (size_t i = 2; i < events_.size(); i += 2) idle += cuda_.seconds_between(events_[i - 1], events_[i]);
    return idle / cuda_.seconds_between(events_.front(), events_.back());
  }

 private:
  const Cuda& cuda_;
  std::vector<void*> events_;
};

}  // namespace

// A consumer whose steps take 1.5 times as long as a batch, which is the slower of gathering and copying: the time between its
// steps in which the device had nothing to do. Without batches it is what the launches themselves leave.
void measure_idle(const Cuda& cuda, const GpuSettings& settings, Report& report) {
  for (const BatchSize& size : kBatchSizes) {
    const int64_t bytes = size.bytes(settings);
    void* stream = cuda.make_stream();
    const auto job =
        rows_job(settings, std::max(8 * bytes, 256 * settings.mib()) / settings.row_bytes(), bytes);
    const double batch_seconds = seconds_each(
        settings.seconds, 8, [&](int64_t) { use_batch(*job, stream, [] {}); },
        [&] { cuda.synchronize(stream); });
    const Step step(cuda, settings, stream, 1.5 * batch_seconds);
    const auto wanted = settings.small ? 0 : static_cast<int64_t>(settings.seconds / step.seconds());
    const TimedSteps steps(cuda, std::clamp(wanted, int64_t{8}, int64_t{4096}));
    use_batch(*job, stream, [&] { step.queue(); });
    const double without = steps.idle(stream, step, [](auto queue) { queue(); });
    const double with = steps.idle(stream, step, [&](auto queue) { use_batch(*job, stream, queue); });
    const std::string variant = std::string("idle ") + size.name;
    report.set(variant, "idle_percent", 100 * with);
    report.set(variant, "idle_without_batches_percent", 100 * without);
    report.set(variant, "step_us", step.seconds() * 1e6);
    report.set(variant, "batch_us", batch_seconds * 1e6);
    cuda.end_stream(stream);
  }
}

void measure_consumer(const Cuda& cuda, const GpuSettings& settings, Report& report) {
  for (const BatchSize& size : kBatchSizes) {
    const int64_t bytes = size.bytes(settings);
    void* stream = cuda.make_stream();
    const auto job = rows_job(settings, std::max(8 * bytes, 256 * settings.mib()) / settings.row_bytes(),
                              bytes, {{"num_workers", "1"}});
    std::vector<double> costs, clock_costs;
    const int64_t until = now_ns() + static_cast<int64_t>(settings.seconds * 1e9);
    while (costs.size() < 20 || (costs.size() < 2000 && now_ns() < until)) {
      await_batch(job->loader());
      const int64_t begin = thread_cpu_ns();
      use_batch(*job, stream, [] {});
      const int64_t end = thread_cpu_ns();
      costs.push_back(static_cast<double>(end - begin) * 1e-3);
      clock_costs.push_back(static_cast<double>(thread_cpu_ns() - end) * 1e-3);
    }
    report.set(std::string("consumer ") + size.name, "cpu_us_per_batch",
               std::max(0.0, median(costs) - median(clock_costs)));
    cuda.end_stream(stream);
  }
}

void check_steady_memory(const Cuda& cuda, const GpuSettings& settings, Report& report) {
  constexpr int kEpochs = 100;
  void* stream = cuda.make_stream();
  const auto job = rows_job(settings, 8 * settings.mib() / settings.row_bytes(), settings.mib());
  const int64_t steps = job->batches_per_epoch();
  dl_stats first{};
  for (int epoch = 0; epoch < kEpochs; ++epoch) {
    for (int64_t i = 0; i < steps; ++i) use_batch(*job, stream, [] {});
    const dl_stats now = stats_of(*job);
    if (epoch == 0) first = now;
    if (now.pinned_bytes != first.pinned_bytes || now.device_bytes != first.device_bytes ||
        now.arena_bytes != first.arena_bytes) {
      fail("epoch " + std::to_string(epoch) + ": " + std::to_string(now.pinned_bytes) +
           " bytes page-locked and " + std::to_string(now.device_bytes) + " on the device, at first " +
           std::to_string(first.pinned_bytes) + " and " + std::to_string(first.device_bytes));
    }
  }
  if (first.lease_copies != 0) fail("batches were copied: the consumer held more than it should");
  report.set("memory over 100 epochs", "pinned_bytes", static_cast<double>(first.pinned_bytes));
  report.set("memory over 100 epochs", "arena_bytes", static_cast<double>(first.arena_bytes));
  report.set("memory over 100 epochs", "device_bytes", static_cast<double>(first.device_bytes));
  cuda.end_stream(stream);
}

}  // namespace bench
