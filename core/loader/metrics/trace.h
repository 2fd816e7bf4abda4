// What a loader does, as Chrome's trace events (the "Trace Event Format"), which Perfetto and speedscope open: one track a worker,
// one for the consumer and one for a device, a span for each stage, and the life of a batch as a flow from the first claim to its release.
//
// Each thread formats into memory of its own and writes when that is full. A file that has reached its limit, or cannot be
// written, ends the trace; the job goes on.
//
// Threads: add_span, add_release: any, noexcept, no allocation. start, stop: one at a time, by the owner.
// Lock order: a track's mutex, then out_mutex_.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/atomic.h"
#include "core/base/log.h"
#include "core/base/status.h"
#include "core/base/thread_mutex.h"
#include "core/loader/metrics/stopwatch.h"

namespace dataline {

// Where a trace goes: a file, or the host.
struct TraceTarget {
  std::string path;  // "": to `write`
  void* context = nullptr;
  int32_t (*write)(void* context, const char* text, size_t bytes) = nullptr;  // 0, or an error number
};

class Trace final : public SpanSink {
 public:
  static constexpr int64_t kLimitBytes = int64_t{256} << 20;

  // `stages`: their names. `workers`: threads beside the consumer.
  Trace(std::vector<std::string> stages, int64_t workers, bool to_device, Log log,
        int64_t limit_bytes = kLimitBytes);
  ~Trace() override;

  // Opens the file, which is new, empty or an older trace (core/memory/replaced_file.h), and writes the head. kIo, kPermission, kNotFound, ... names the file; kReader: the host refused.
  Status start(const TraceTarget& target);
  // The spans of all threads, and the end. What went wrong since start: kIo with the file, or where the limit was reached, ok with a
  // line in the log.
  Status stop();
  int64_t bytes() const { return bytes_.load(std::memory_order_relaxed); }

  void add_span(int32_t thread, int32_t stage, int64_t begin_ns, int64_t end_ns,
                const SpanBatch& batch) noexcept override;
  void add_release(int64_t at_ns, const SpanBatch& batch) noexcept override;

 private:
  struct Track {
    ThreadMutex mutex;
    std::string text DL_GUARDED_BY(mutex);
  };
  enum class End : int32_t { kNone, kFull, kFailed };

  void flush(std::string& text) noexcept DL_EXCLUDES(out_mutex_);
  bool put(std::string_view text) noexcept DL_REQUIRES(out_mutex_);
  void close_file() noexcept DL_REQUIRES(out_mutex_);
  void tell_end() const noexcept DL_REQUIRES(out_mutex_);
  int64_t number_of(int32_t thread) const;
  void add_event(std::string& out, std::string_view name, char phase, int64_t at_ns, int64_t track) const;
  void add_flow(std::string& out, char phase, int64_t at_ns, int64_t track, const SpanBatch& batch) const;

  const std::vector<std::string> stages_;  // as JSON text
  const int64_t workers_;
  const bool to_device_;
  const Log log_;
  const int64_t limit_bytes_;
  std::vector<std::unique_ptr<Track>> tracks_;  // by number_of()
  int64_t offset_ns_ = 0;  // from the monotonic clock to the time of day, when the trace began
  Atomic<bool> open_{false};
  Atomic<int64_t> bytes_{0};

  ThreadMutex out_mutex_;
  TraceTarget target_ DL_GUARDED_BY(out_mutex_);
  std::FILE* file_ DL_GUARDED_BY(out_mutex_) = nullptr;
  End end_ DL_GUARDED_BY(out_mutex_) = End::kNone;
  int os_error_ DL_GUARDED_BY(out_mutex_) = 0;
};

}  // namespace dataline
