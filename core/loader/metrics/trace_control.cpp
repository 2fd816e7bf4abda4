// SPDX-License-Identifier: Apache-2.0
#include "core/loader/metrics/trace_control.h"

namespace dataline {

Status TraceControl::start(const TraceTarget& target, Metrics& metrics, const Log& log) {
  ThreadLock lock(mutex_);
  if (trace_ == nullptr) {
    const int64_t workers = metrics.thread_count() - 1;
    trace_ = std::make_unique<Trace>(metrics.stage_names(), workers, metrics.to_device(), log);
  }
  DL_RETURN_IF_ERROR(trace_->start(target));
  metrics.switch_on();
  metrics.trace_to(trace_.get());
  return Status::ok();
}

// Who records a span at this moment has looked already; Trace takes it, or drops it.
Status TraceControl::stop(Metrics& metrics) {
  ThreadLock lock(mutex_);
  metrics.trace_to(nullptr);
  return trace_ == nullptr ? Status::ok() : trace_->stop();
}

}  // namespace dataline
