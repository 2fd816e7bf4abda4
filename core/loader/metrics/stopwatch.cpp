// SPDX-License-Identifier: Apache-2.0
#include "core/loader/metrics/stopwatch.h"

#include <utility>

namespace dataline {

void Stopwatch::change(Times& times, int32_t stage) {
  const int32_t before = stage_.load(std::memory_order_relaxed);
  if (before == stage) return;  // the visit goes on
  const int64_t now_ns = monotonic_ns();
  const int64_t since_ns = since_ns_.load(std::memory_order_relaxed);
  if (before == stage::kOutside) {
    run_ns_ = now_ns;
  } else {
    times.stages[static_cast<size_t>(before)].visits.add(now_ns - since_ns, weight_);
    if (SpanSink* const trace = trace_->load(std::memory_order_acquire); trace != nullptr)
      trace->add_span(thread_, before, since_ns, now_ns, batch_);
    if (before == stage::kOrder) batch_.first = false;  // told
    const bool waited = before >= stage::kNoRoom && before < stage::kFirstPass;
    if (stage == stage::kOutside && !waited) sampler_.took(now_ns - run_ns_);
  }
  stage_.store(stage, std::memory_order_relaxed);
  since_ns_.store(now_ns, std::memory_order_relaxed);
}

void Stopwatch::change_unmeasured(Times& times, int32_t stage) {
  const int32_t before = stage_.load(std::memory_order_relaxed);
  if (before == stage) return;
  stage_.store(stage, std::memory_order_relaxed);
  // Only these can take long by themselves.
  const auto may_be_long = [](int32_t s) {
    return s >= stage::kFirstPass || s == stage::kRead || s == stage::kSend;
  };
  if (!may_be_long(before) && !may_be_long(stage)) return;
  const int64_t now_ns = coarse_ns();
  const int64_t took_ns = now_ns - std::exchange(coarse_since_ns_, now_ns);
  if (may_be_long(before) && took_ns >= kLongNs)
    times.stages[static_cast<size_t>(before)].visits.add(took_ns);
  since_ns_.store(now_ns + kCoarseNs, std::memory_order_relaxed);  // no earlier than now, for readers
}

void Stopwatch::switch_on(std::unique_ptr<Times> times, const Atomic<SpanSink*>& trace, int32_t thread) {
  owned_ = std::move(times);
  trace_ = &trace;
  thread_ = thread;
  times_.store(owned_.get(), std::memory_order_release);
}

int64_t Stopwatch::total_ns(int32_t stage) const {
  Times* const times = this->times();
  if (times == nullptr) return 0;
  const int64_t total_ns = times->stages[static_cast<size_t>(stage)].visits.sum_ns();
  if (stage_.load(std::memory_order_relaxed) != stage) return total_ns;
  return total_ns + std::max<int64_t>(monotonic_ns() - since_ns_.load(std::memory_order_relaxed), 0);
}

void Stopwatch::begin_thread() {
  const int64_t id = this_thread_id();
  ThreadTimes first;
  if (!thread_times(id, first)) return;
  first_cpu_ns_.store(first.cpu_ns, std::memory_order_relaxed);
  first_queued_ns_.store(first.queued_ns, std::memory_order_relaxed);
  thread_id_.store(id, std::memory_order_release);
}

void Stopwatch::end_thread() {
  enter(stage::kOutside);
  ThreadTimes last;
  if (system_times(last)) {
    last_cpu_ns_.store(last.cpu_ns, std::memory_order_relaxed);
    last_queued_ns_.store(last.queued_ns, std::memory_order_relaxed);
  }
  thread_id_.store(0, std::memory_order_release);
}

bool Stopwatch::system_times(ThreadTimes& out) const {
  const int64_t id = thread_id_.load(std::memory_order_acquire);
  if (id > 0 && thread_times(id, out)) {
    out.cpu_ns -= first_cpu_ns_.load(std::memory_order_relaxed);
    out.queued_ns -= first_queued_ns_.load(std::memory_order_relaxed);
    return true;
  }
  out = {last_cpu_ns_.load(std::memory_order_relaxed), last_queued_ns_.load(std::memory_order_relaxed)};
  return out.cpu_ns > 0;
}

}  // namespace dataline
