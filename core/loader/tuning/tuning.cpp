// What a loader makes of its tuner's decisions: how much is planned for, when it is asked, and what is told. The
// consumer asks it, in next(), so that tuning needs no thread.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>

#include "core/base/text.h"
#include "core/base/thread.h"
#include "core/loader/loader.h"
#include "core/memory/machine_limits.h"

namespace dataline {
namespace {

// prefetch_depth=auto takes no more memory for slots than this: what is far ahead of the consumer seldom helps it.
constexpr int64_t kMostAutoSlotBytes = int64_t{256} << 20;
constexpr int64_t kReadCpusNs = 1'000'000'000;  // reading a cgroup's files takes 100 us

// Less of what nobody asked for by a number. False: there is no more of that.
bool shrink(LoaderConfig& config) {
  if (config.prefetch_depth > config.start_depth) {
    config.prefetch_depth = std::max(config.prefetch_depth / 2, config.start_depth);
  } else if (config.num_workers > config.start_workers) {
    config.num_workers = std::max(config.num_workers / 2, config.start_workers);
  } else if (config.workers_are_auto && config.num_workers > 1) {
    config.num_workers = config.start_workers = config.num_workers / 2;
  } else {
    return false;
  }
  return true;
}

}  // namespace

// Plans for what tuning may grow to as far as it fits. What it starts with has to fit: with num_workers=auto one worker, otherwise
// all. Rows without a fixed size take memory that no plan knows: half of the budget is left to them where shrinking can
// leave it, and the depth does not grow.
Result<MemoryPlan> Loader::fit_plan(const Order& order) {
  // Memory of a device, and page-locked memory, is taken from others: only for tuning that was requested.
  if (config_.tune_is_auto && delivery_->pins_slots()) config_.prefetch_depth = config_.start_depth;
  for (;;) {
    Result<MemoryPlan> plan = plan_memory(config_, pipeline_, order, steps_, delivery_->pins_slots());
    if (!plan.is_ok() && plan.status().code() != Code::kOverBudget) return plan;
    bool large = !plan.is_ok();
    if (plan.is_ok()) {
      const bool unknown = plan.value().shares_stride > 0;
      const int64_t slots = plan.value().slot_count * plan.value().slot_stride;
      large = (config_.prefetch_depth > config_.start_depth && (unknown || slots > kMostAutoSlotBytes)) ||
              (unknown && plan.value().held_bytes > config_.budget_bytes / 2);
    }
    if (!large || !shrink(config_)) return plan;
  }
}

// Where the system refuses a thread, num_workers=auto works with those that it gave.
Status Loader::start_workers() {
  DL_RETURN_IF_ERROR(pool_->start(shared_from_this(), config_.workers_are_auto ? 1 : config_.start_workers));
  const int64_t start = std::min(config_.start_workers, pool_->count());
  if (pool_->count() < config_.num_workers)
    log_(LogLevel::kInfo,
         concat("num_workers=auto: ", pool_->count(), " workers at most: ", pool_->refused().text()));
  if (config_.tune == Tune::kOff || pool_->empty()) return Status::ok();
  TuneSetting most{pool_->count(), config_.prefetch_depth};
  // To say what more would do, nothing has to be planned for.
  if (config_.tune == Tune::kWatch)
    most = {std::max<int64_t>(2 * most.workers, 8), std::max<int64_t>(2 * most.depth, 16)};
  cpus_ = available_cpus();
  tuner_ = std::make_unique<Tuner>(config_.tune, TuneSetting{start, config_.start_depth}, most);
  return Status::ok();
}

void Loader::put_in_force(TuneSetting setting) {
  if (setting.depth != window_->depth()) {
    window_->set_depth(setting.depth);
    pool_->notify();
  }
  if (setting.workers != pool_->active()) pool_->set_active(setting.workers);
}

// Most calls end at the coarse clock, which takes 5 ns.
std::string Loader::tune() {
  if (const int64_t now_ns = coarse_ns(); now_ns - tuned_ns_ < Tuner::kSampleNs) return {};
  const int64_t now_ns = monotonic_ns();
  tuned_ns_ = now_ns;
  if (now_ns - cpus_read_ns_ >= kReadCpusNs) {
    cpus_ = available_cpus();
    cpus_read_ns_ = now_ns;
  }
  const bool news = tuner_->observe({.at_ns = now_ns,
                                     .batches = ledger_.batches,
                                     .wait_ns = ledger_.wait_ns,
                                     .cpu_ns = pool_->cpu_ns(),
                                     .cpus = cpus_});
  if (!news) return {};
  if (config_.tune == Tune::kOn) put_in_force(tuner_->force());
  return concat("tune: ", tuner_->text());
}

Status Loader::set_workers(int64_t count) {
  if (forked()) return forked_error();
  ThreadLock lock(mutex_);
  if (pool_->empty())
    return error(Code::kWrongState, "workers: this loader was created with num_workers=0 and has none");
  if (count < 1 || count > pool_->count()) {
    return error(Code::kOutOfRange, "workers: expected 1 to ", pool_->count(),
                 ", the num_workers that memory is planned for, got ", count);
  }
  if (tuner_ != nullptr) {
    tuner_->fix(count);
  } else {
    workers_set_ += count != pool_->active() ? 1 : 0;
  }
  pool_->set_active(count);
  return Status::ok();
}

Result<Tuned> Loader::tuned() const {
  if (forked()) return forked_error();
  ThreadLock lock(mutex_);
  Tuned tuned;
  tuned.mode = config_.tune;
  tuned.force = {pool_->active(), pool_->empty() ? 1 : window_->depth()};
  tuned.most = {pool_->count(), pool_->empty() ? 1 : config_.prefetch_depth};
  if (tuner_ == nullptr) {
    tuned.chosen = tuned.force;
    tuned.changes = workers_set_;
    tuned.frozen = true;
    tuned.text = pool_->empty()         ? "not tuned: there are no workers"
                 : config_.tune_is_auto ? "not tuned: num_workers is set"
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

// --- In a state: a hint for the next start, on whatever machine that is. Only for tune=on that was asked for: else the
// states of equal positions are equal ---

std::string Loader::tune_text() const {
  if (config_.tune != Tune::kOn || config_.tune_is_auto || tuner_ == nullptr) return {};
  return concat(tuner_->chosen().workers, " workers, depth ", tuner_->chosen().depth);
}

// What is not of that form is of a later release, and no hint for this one.
void Loader::tune_from(std::string_view text) {
  if (config_.tune != Tune::kOn || tuner_ == nullptr) return;
  constexpr std::string_view kBetween = " workers, depth ";
  const size_t at = text.find(kBetween);
  if (at == std::string_view::npos) return;
  const std::optional<int64_t> workers = parse_i64(text.substr(0, at));
  const std::optional<int64_t> depth = parse_i64(text.substr(at + kBetween.size()));
  if (!workers || !depth) return;
  tuner_->start_from({*workers, *depth});
  put_in_force(tuner_->force());
}

}  // namespace dataline
