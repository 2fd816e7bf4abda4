// SPDX-License-Identifier: Apache-2.0
#include "bindings/cli/bench_consumer.h"

#include <algorithm>
#include <limits>
#include <string>
#include <thread>

#include "bindings/cli/clock.h"
#include "bindings/cli/system.h"
#include "bindings/cli/views.h"

namespace dataline::cli {
namespace {

constexpr double kCheckSeconds = 20e-6;  // between readings of the clock
constexpr std::chrono::microseconds kSettlePause{200};

}  // namespace

Consumer::Consumer(const Job& job, Loader loader) : job_(job), loader_(std::move(loader)) {
  position(&start_epoch_, &start_step_);
}

bool Consumer::next(Batch* out) {
  dl_batch* raw = nullptr;
  dl_error error = DL_ERROR_INIT;
  const dl_status status = job_.check(dl_loader_next(loader_.get(), -1, &raw, &error), error);
  out->reset(raw);
  if (status == DL_END) job_.check(dl_loader_seek(loader_.get(), start_epoch_, start_step_, &error), error);
  return status == DL_OK;
}

void Consumer::take(int64_t batches) {
  for (int64_t i = 0; i < batches; ++i) {
    Batch batch;
    next(&batch);
  }
}

dl_stats Consumer::stats() const {
  auto stats = sized<dl_stats>();
  dl_error error = DL_ERROR_INIT;
  job_.check(dl_loader_stats(loader_.get(), &stats, &error), error);
  return stats;
}

dl_tuned Consumer::tuned() const {
  auto tuned = sized<dl_tuned>();
  dl_error error = DL_ERROR_INIT;
  job_.check(dl_loader_tuned(loader_.get(), &tuned, &error), error);
  return tuned;
}

void Consumer::position(int64_t* epoch, int64_t* step) const {
  dl_error error = DL_ERROR_INIT;
  job_.check(dl_loader_position(loader_.get(), epoch, step, &error), error);
}

int64_t Consumer::option(const char* key) const {
  const char* text = "";
  dl_error error = DL_ERROR_INIT;
  job_.check(dl_options_get(job_.options(), key, &text, &error), error);
  return std::stoll(text);
}

int64_t Consumer::ahead() const { return tuned().prefetch_depth; }

int64_t Consumer::slots() const { return ahead() + option("max_leases"); }

void Consumer::warm_up(double least_seconds, double most_seconds) {
  const auto start = Clock::now();
  bool epoch_done = false;
  int64_t batches = 0;
  double elapsed = 0;
  while (elapsed < least_seconds || (!epoch_done && elapsed < most_seconds)) {
    Batch batch;
    if (next(&batch)) {
      ++batches;
    } else {
      epoch_done = true;
    }
    elapsed = seconds_since(start);
  }
  const double batch_seconds = elapsed / static_cast<double>(std::max<int64_t>(1, batches));
  batches_a_check_ = std::max<int64_t>(1, static_cast<int64_t>(kCheckSeconds / batch_seconds));
}

Round Consumer::round(double seconds, const std::function<void(const Delivered&)>& seen) {
  constexpr double kInterval = std::chrono::duration<double>(Progress::kInterval).count();
  Round round;
  round.before = stats();
  const double cpu_before = process_cpu_seconds();
  const auto start = Clock::now();
  double next_seen = seen ? 0 : std::numeric_limits<double>::infinity();
  do {
    take(batches_a_check_);
    round.seconds = seconds_since(start);
    if (round.seconds < next_seen) continue;
    next_seen = round.seconds + kInterval;
    round.after = stats();
    seen({round.seconds, round.delivered(&dl_stats::batches), round.delivered(&dl_stats::samples),
          round.delivered(&dl_stats::bytes), round.delivered(&dl_stats::wait_ns) * 1e-9});
  } while (round.seconds < seconds);
  round.cpu_seconds = process_cpu_seconds() - cpu_before;
  round.after = stats();
  return round;
}

void Consumer::settle(double most_seconds) const {
  const int64_t full = ahead();
  if (stats().num_workers == 0) return;
  const auto start = Clock::now();
  while (stats().ready_batches < full && seconds_since(start) < most_seconds) {
    std::this_thread::sleep_for(kSettlePause);
  }
}

}  // namespace dataline::cli
