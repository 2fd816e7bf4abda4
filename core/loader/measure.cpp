// What a loader measures of itself (metrics/): the consumer's calls, and the trace.
// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "core/base/thread.h"
#include "core/loader/loader.h"
#include "core/source/set_directories.h"

namespace dataline {

Status Loader::measured_next(int64_t timeout_ns, Batch** out, EpochLoop* loop) {
  Metrics::Call call = metrics_->begin_call();
  Status status = take_next(timeout_ns, out, loop, &call);
  if (*out == nullptr) {
    if (status.code() == Code::kTimeout || status.code() == Code::kInterrupted) metrics_->pause_call(call);
    return status;
  }
  call.batch = {(*out)->epoch, (*out)->step};
  metrics_->end_call(call);
  return status;
}

Status Loader::trace_start(const TraceTarget& target) {
  if (forked()) return forked_error();
  if (!target.path.empty()) DL_RETURN_IF_ERROR(refuse_in_set(*pipeline_.source, target.path, "option trace"));
  return trace_.start(target, *metrics_, log_);
}

Status Loader::trace_stop() {
  if (forked()) return forked_error();
  return trace_.stop(*metrics_);
}

// The last numbers, once no thread works.
void Loader::end_measuring() noexcept {
  try {
    if (Result<LoaderStats> last = stats(); last.is_ok()) metrics_->close(last.value());
    if (Status status = trace_stop(); !status.is_ok()) log_(LogLevel::kWarning, status.text());
  } catch (...) {  // memory ran out: the loader ends all the same
  }
}

}  // namespace dataline
