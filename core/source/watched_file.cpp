// SPDX-License-Identifier: Apache-2.0
#include "core/source/watched_file.h"

#include <algorithm>

#include "core/base/thread.h"

namespace dataline {
namespace {

int64_t at(const std::atomic<int64_t>& when_ns) { return when_ns.load(std::memory_order_relaxed); }

void advance(std::atomic<int64_t>& when_ns, int64_t now_ns) {
  int64_t seen_ns = at(when_ns);
  while (seen_ns < now_ns && !when_ns.compare_exchange_weak(seen_ns, now_ns, std::memory_order_relaxed)) {
  }
}

}  // namespace

bool WatchedFile::check_before(int64_t opened_ns) const {
  if (file_.io() == IoMode::kMemory) return true;
  if (std::max(at(long_ns_), at(same_ns_)) >= opened_ns) return true;
  const int64_t now_ns = monotonic_ns();
  file_.heal();
  const bool whole = file_.check_length().is_ok();
  advance(checked_ns_, now_ns);
  if (whole) advance(long_ns_, now_ns);
  return whole;
}

bool WatchedFile::unchanged(const ReadSpan& span) const {
  if (file_.io() == IoMode::kMemory) return true;
  // A batch that read from this file called check_before(), so checked_ns_ or a check it relied on is not older than the
  // batch.
  if (std::max({at(checked_ns_), at(long_ns_), at(same_ns_)}) < span.opened_ns) return true;
  return looked_after(span).status.is_ok() && !file_.faulted(span.opened_ns);
}

MappedFile::Change WatchedFile::looked_after(const ReadSpan& span) const {
  if (at(same_ns_) >= span.copied_ns) return {};
  const int64_t now_ns = monotonic_ns();
  MappedFile::Change change = file_.change_since_open();
  if (change.status.is_ok()) advance(same_ns_, now_ns);
  return change;
}

}  // namespace dataline
