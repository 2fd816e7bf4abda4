// SPDX-License-Identifier: Apache-2.0
#include "core/loader/metrics/metrics.h"

#include <algorithm>
#include <utility>

#include "core/base/thread.h"

namespace dataline {
namespace {

constexpr const char* kForLease = "leases";  // the consumer holds max_leases batches

}  // namespace

Metrics::Metrics(std::weak_ptr<const StatsSource> loader, std::vector<Pass> passes, int64_t threads,
                 bool to_device)
    : loader_(std::move(loader)),
      passes_(std::move(passes)),
      to_device_(to_device),
      watches_(static_cast<size_t>(threads)) {}

// --- The loader ---

// The table before the stopwatches: whoever sees a thread measure finds its rows.
void Metrics::switch_on() {
  ThreadLock lock(mutex_);
  if (on()) return;
  std::vector<bool> divided;
  for (const Pass& pass : passes_) divided.push_back(!pass.parts.empty());
  std::vector<std::unique_ptr<Stopwatch::Times>> times;
  for (size_t t = 0; t < watches_.size(); ++t)
    times.push_back(std::make_unique<Stopwatch::Times>(stage_count(), divided));
  owned_specs_ = make_specs();
  highest_ = std::make_unique<Atomic<int64_t>[]>(owned_specs_.size());
  seen_totals_.assign(stage_count(), 0);
  specs_.store(&owned_specs_, std::memory_order_release);
  for (size_t t = 0; t < watches_.size(); ++t) {
    const bool consumer = t + 1 == watches_.size();
    watches_[t].switch_on(std::move(times[t]), trace_, consumer ? kThreadConsumer : static_cast<int32_t>(t));
  }
}

// The call after one that is measured tells when that one's batch was done with.
Metrics::Call Metrics::begin_call() {
  Call call;
  if (resume_call(call)) return call;
  call.number = calls_.fetch_add(1, std::memory_order_relaxed);
  const int64_t measured = measured_call_.load(std::memory_order_relaxed);
  const int64_t every = trace() != nullptr ? 1 : calls_every_.load(std::memory_order_relaxed);
  if (call.number >= measured + every) call.weight = call.number - measured;
  if (call.weight > 0 || call.number == measured + 1)
    call.since_ns = call.begin_ns = monotonic_ns();
  else
    call.since_ns = coarse_ns();
  call.slice_ns = call.since_ns;
  return call;
}

bool Metrics::resume_call(Call& call) {
  if (!paused_.load(std::memory_order_relaxed)) return false;
  const int64_t now_ns = monotonic_ns();
  ThreadLock lock(mutex_);
  if (!paused_.exchange(false)) return false;
  call = paused_call_;
  if (now_ns - call.end_ns > (call.end_ns - call.slice_ns) / kPausePart) {
    call.waited_ns = call.took_ns();
    call.since_ns = now_ns;
  }
  call.slice_ns = now_ns;
  return true;
}

void Metrics::pause_call(Call& call) {
  call.end_ns = monotonic_ns();
  ThreadLock lock(mutex_);
  paused_call_ = call;
  paused_.store(true);
}

void Metrics::end_call(Call& call) {
  if (call.begin_ns == 0 && call.waited_ns + coarse_ns() - call.since_ns < kStallNs) return;
  call.end_ns = monotonic_ns();
  ThreadLock lock(mutex_);
  SpanSink* const sink = trace();
  if (call.begin_ns > 0 && returned_.weight > 0 && returned_.number + 1 == call.number) {
    const int64_t between_ns = std::max<int64_t>(call.begin_ns - returned_.end_ns, 0);
    between_.add(between_ns, returned_.weight);
    calls_sampler_.took(returned_.took_ns() + between_ns);
    calls_every_.store(calls_sampler_.every(), std::memory_order_relaxed);
    if (sink != nullptr)
      sink->add_span(kThreadConsumer, SpanSink::kStep, returned_.end_ns, call.begin_ns, returned_.batch);
  }
  if (call.weight > 0) {
    next_.add(call.took_ns(), call.weight);
    returned_ = call;
    measured_call_.store(call.number, std::memory_order_relaxed);
    if (sink != nullptr)
      sink->add_span(kThreadConsumer, SpanSink::kNext, call.since_ns, call.end_ns, call.batch);
  }
  if (call.took_ns() >= kStallNs) {
    note_stall(call);
  } else if (call.end_ns - looked_ns_ >= kLookNs) {
    look(seen_totals_);
    looked_ns_ = call.end_ns;
  }
}

void Metrics::add_times(const DeviceTimes& times) noexcept {
  if (SpanSink* const sink = trace(); sink != nullptr) {
    const SpanBatch batch{times.epoch, times.step};
    const int64_t copied_ns = times.begin_ns + times.copy_ns;
    sink->add_span(kThreadDevice, SpanSink::kCopies, times.begin_ns, copied_ns, batch);
    if (times.kernels_ns > 0)
      sink->add_span(kThreadDevice, SpanSink::kKernels, copied_ns, copied_ns + times.kernels_ns, batch);
  }
  ThreadLock lock(mutex_);
  copies_.add(times.copy_ns);
  kernels_.add(times.kernels_ns);
  copied_bytes_ += times.copied_bytes;
}

void Metrics::close(const LoaderStats& last) {
  ThreadLock lock(mutex_);
  last_ = last;
  closed_ = true;
}

// --- Stalls ---

void Metrics::note_stall(const Call& call) {
  stalls_[static_cast<size_t>(stalls_seen_++) % kStalls] = {
      .epoch = call.batch.epoch,
      .step = call.batch.step,
      .wait_ns = call.took_ns(),
      .end_ns = call.end_ns,
      .cause = call.for_lease ? kForLease : cause_of_stall(seen_totals_)};
  looked_ns_ = call.end_ns;
}

void Metrics::look(std::vector<int64_t>& totals) const {
  for (size_t s = 0; s < totals.size(); ++s) {
    totals[s] = 0;
    for (const Stopwatch& watch : watches_) totals[s] += watch.total_ns(static_cast<int32_t>(s));
  }
}

// What took most of the threads' time since the last look, which is at most kLookNs before the stall. A wait only if no thread
// worked: while one decodes, the others find nothing to do.
const char* Metrics::cause_of_stall(std::vector<int64_t>& totals) const {
  const std::vector<int64_t> before = totals;
  look(totals);
  int32_t longest = stage::kOutside;
  int64_t longest_ns = 0;
  for (const bool wait : {false, true}) {
    for (int32_t s = stage::kOrder; s < static_cast<int32_t>(totals.size()); ++s) {
      const auto at = static_cast<size_t>(s);
      if (waits(s) != wait || totals[at] - before[at] <= longest_ns) continue;
      longest = s;
      longest_ns = totals[at] - before[at];
    }
    if (longest_ns > 0) break;
  }
  return longest_part(longest);
}

// Of a pass that is divided, the part that has taken most of it so far.
const char* Metrics::longest_part(int32_t stage) const {
  if (stage < stage::kFirstPass) return stage_text(stage);
  const auto pass = static_cast<size_t>(stage - stage::kFirstPass);
  const char* longest = stage_text(stage);
  int64_t longest_ns = 0;
  for (size_t part = 0; part < std::min<size_t>(passes_[pass].parts.size(), PartClock::kMostParts); ++part) {
    int64_t total_ns = 0;
    for_threads(kThreadAll,
                [&](const Stopwatch& watch) { total_ns += watch.times()->parts_of(pass)[part].sum_ns(); });
    if (total_ns <= longest_ns) continue;
    longest = passes_[pass].parts[part].c_str();
    longest_ns = total_ns;
  }
  return longest;
}

int64_t Metrics::stall_count() const {
  ThreadLock lock(mutex_);
  return std::min<int64_t>(stalls_seen_, kStalls);
}

Result<Stall> Metrics::stall(int64_t index) const {
  ThreadLock lock(mutex_);
  const int64_t kept = std::min<int64_t>(stalls_seen_, kStalls);
  if (index < 0 || index >= kept)
    return error(Code::kInvalidArgument, "stall ", index, ": expected 0 to ", kept, " exclusive");
  return stalls_[static_cast<size_t>(stalls_seen_ - kept + index) % kStalls];
}

}  // namespace dataline
