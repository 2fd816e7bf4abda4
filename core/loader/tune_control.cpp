// SPDX-License-Identifier: Apache-2.0
#include "core/loader/tune_control.h"

#include <algorithm>
#include <optional>

#include "core/base/text.h"
#include "core/base/thread.h"
#include "core/loader/config.h"
#include "core/memory/machine_limits.h"

namespace dataline {
namespace {

constexpr int64_t kReadCpusNs = 1'000'000'000;  // reading a cgroup's files takes 100 us

}  // namespace

TuneControl::TuneControl(const LoaderConfig& config, BatchWindow& window, WorkerPool& pool)
    : config_(config), window_(window), pool_(pool) {
  if (config.workers.num_workers > 0) put_in_force({config.workers.start_workers, config.window.start_depth});
}

void TuneControl::start() {
  if (config_.workers.tune == Tune::kOff || pool_.empty()) return;
  const int64_t start = std::min(config_.workers.start_workers, pool_.count());
  TuneSetting most{pool_.count(), config_.window.prefetch_depth};
  // To say what more would do, nothing has to be planned for.
  if (config_.workers.tune == Tune::kWatch)
    most = {std::max<int64_t>(2 * most.workers, 8), std::max<int64_t>(2 * most.depth, 16)};
  cpus_ = available_cpus();
  tuner_ =
      std::make_unique<Tuner>(config_.workers.tune, TuneSetting{start, config_.window.start_depth}, most);
}

void TuneControl::put_in_force(TuneSetting setting) {
  if (setting.depth != window_.depth()) {
    window_.set_depth(setting.depth);
    pool_.notify();
  }
  if (setting.workers != pool_.active()) pool_.set_active(setting.workers);
}

// Most calls end at the coarse clock, which takes 5 ns.
std::string TuneControl::sample(const LedgerCounters& counters) {
  if (const int64_t now_ns = coarse_ns(); now_ns - sampled_ns_ < Tuner::kSampleNs) return {};
  const int64_t now_ns = monotonic_ns();
  sampled_ns_ = now_ns;
  if (now_ns - cpus_read_ns_ >= kReadCpusNs) {
    cpus_ = available_cpus();
    cpus_read_ns_ = now_ns;
  }
  const bool news = tuner_->observe({.at_ns = now_ns,
                                     .batches = counters.batches,
                                     .wait_ns = counters.wait_ns,
                                     .cpu_ns = pool_.cpu_ns(),
                                     .cpus = cpus_});
  if (!news) return {};
  if (config_.workers.tune == Tune::kOn) put_in_force(tuner_->force());
  return concat("tune: ", tuner_->text());
}

Status TuneControl::set_workers(int64_t count) {
  if (pool_.empty())
    return error(Code::kWrongState, "workers: this loader was created with num_workers=0 and has none");
  if (count < 1 || count > pool_.count()) {
    return error(Code::kOutOfRange, "workers: expected 1 to ", pool_.count(),
                 ", the num_workers that memory is planned for, got ", count);
  }
  if (tuner_ != nullptr) {
    tuner_->fix(count);
  } else {
    workers_set_ += count != pool_.active() ? 1 : 0;
  }
  pool_.set_active(count);
  return Status::ok();
}

Tuned TuneControl::tuned() const {
  Tuned tuned;
  tuned.mode = config_.workers.tune;
  tuned.force = {pool_.active(), pool_.empty() ? 1 : window_.depth()};
  tuned.most = {pool_.count(), pool_.empty() ? 1 : config_.window.prefetch_depth};
  if (tuner_ == nullptr) {
    tuned.chosen = tuned.force;
    tuned.changes = workers_set_;
    tuned.frozen = true;
    tuned.text = pool_.empty()                  ? "not tuned: there are no workers"
                 : config_.workers.tune_is_auto ? "not tuned: num_workers is set"
                                                : "not tuned: tune=off";
    return tuned;
  }
  tuned.chosen = tuner_->chosen();
  tuned.changes = tuner_->changes();
  tuned.frozen = tuner_->frozen();
  tuned.batches_per_s = tuner_->rate();
  tuned.wait_share = tuner_->wait_share();
  tuned.text = tuner_->text();
  return tuned;
}

std::string TuneControl::state_text() const {
  if (config_.workers.tune != Tune::kOn || config_.workers.tune_is_auto || tuner_ == nullptr) return {};
  return concat(tuner_->chosen().workers, " workers, depth ", tuner_->chosen().depth);
}

void TuneControl::start_from(std::string_view state_text) {
  if (config_.workers.tune != Tune::kOn || tuner_ == nullptr) return;
  constexpr std::string_view kBetween = " workers, depth ";
  const size_t at = state_text.find(kBetween);
  if (at == std::string_view::npos) return;
  const std::optional<int64_t> workers = parse_i64(state_text.substr(0, at));
  const std::optional<int64_t> depth = parse_i64(state_text.substr(at + kBetween.size()));
  if (!workers || !depth) return;
  tuner_->start_from({*workers, *depth});
  put_in_force(tuner_->force());
}

}  // namespace dataline
