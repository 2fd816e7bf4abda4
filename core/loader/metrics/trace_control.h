// Starts and stops the trace of a loader.
// Owns the trace, which the first start makes and which then stays: a thread that records a span at this moment may have
// looked already.
// Threads: internally synchronized. Outlives the threads that fill.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "core/base/log.h"
#include "core/base/status.h"
#include "core/base/thread_mutex.h"
#include "core/loader/metrics/metrics.h"
#include "core/loader/metrics/trace.h"

namespace dataline {

class TraceControl {
 public:
  // Also switches the metrics on. What Trace::start() returns; kWrongState: a trace is being written.
  Status start(const TraceTarget& target, Metrics& metrics, const Log& log) DL_EXCLUDES(mutex_);
  // What Trace::stop() returns; ok where none was started.
  Status stop(Metrics& metrics) DL_EXCLUDES(mutex_);

 private:
  ThreadMutex mutex_;  // held while a trace begins or ends; before the metrics' own
  std::unique_ptr<Trace> trace_ DL_GUARDED_BY(mutex_);
};

}  // namespace dataline
