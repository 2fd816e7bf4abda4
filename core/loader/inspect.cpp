// Queries about a loader: counters, bad samples, and the map from delivered values to pixels.
// SPDX-License-Identifier: Apache-2.0
#include "core/loader/loader.h"

namespace dataline {

Result<LoaderStats> Loader::stats() const {
  if (forked()) return forked_error();
  ThreadLock lock(mutex_);
  LoaderStats stats;
  stats.num_workers = static_cast<int32_t>(pool_->count());
  stats.ledger = ledger_.counters();
  stats.bad = static_cast<int64_t>(ledger_.bad.size());
  stats.worker_cpu_ns = pool_->cpu_ns();
  stats.arena_bytes = arena_.bytes() + shares_.counted_bytes();
  stats.held_bytes = memory_->in_use_bytes();
  stats.budget_bytes = config_.budget_bytes;
  stats.leases_held = leases();
  stats.ready_batches = window_->ready_count();
  stats.threads_abandoned = abandoned_threads_;
  stats.pinned_bytes = delivery_->pinned_slots() * plan_.slot_stride;
  stats.device_bytes = device_->device_bytes();
  stats.copied_bytes = delivery_->copied_bytes();
  return stats;
}

Result<PixelScale> Loader::pixel_scale(int64_t field, int64_t channel) const {
  const int64_t count = static_cast<int64_t>(pipeline_.outputs.size());
  if (field < 0 || field >= count)
    return error(Code::kInvalidArgument, "field ", field, ": expected 0 to ", count, " exclusive");
  const Program& program = *pipeline_.programs[static_cast<size_t>(field)];
  const std::vector<PixelScale> scales = program.pixel_scales();
  if (scales.empty())
    return error(Code::kUnsupported, "field '", program.output().name,
                 "': its values are not those of pixels");
  const int64_t channels = static_cast<int64_t>(scales.size());
  if (channel < 0 || (channels > 1 && channel >= channels))
    return error(Code::kInvalidArgument, "channel ", channel, ": expected 0 to ", channels, " exclusive");
  return scales[channels > 1 ? static_cast<size_t>(channel) : 0];
}

int64_t Loader::bad_sample_count() const {
  if (forked()) return 0;
  ThreadLock lock(mutex_);
  return static_cast<int64_t>(ledger_.bad.size());
}

Result<BadSample> Loader::bad_sample(int64_t index) const {
  if (forked()) return forked_error();
  ThreadLock lock(mutex_);
  if (index < 0 || index >= static_cast<int64_t>(ledger_.bad.size())) {
    return error(Code::kInvalidArgument, "bad sample ", index, ": expected 0 to ", ledger_.bad.size(),
                 " exclusive");
  }
  return ledger_.bad[static_cast<size_t>(index)];
}

}  // namespace dataline
