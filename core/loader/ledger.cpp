// The books, and the queries about a loader: counters, bad samples, and the map from delivered values to pixels.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "core/loader/cache/kept_samples.h"
#include "core/loader/loader.h"
#include "core/source/composed/mix.h"

namespace dataline {

bool Ledger::book_bad_rows(Slot& slot, const Source& source, int64_t max_bad) {
  std::vector<BadRow>& rows = slot.bad_rows();
  std::sort(rows.begin(), rows.end(), [](const BadRow& a, const BadRow& b) { return a.row < b.row; });
  for (const BadRow& row : rows) {
    if (!known_.insert(row.record).second) continue;
    const SampleName name = sample_name(source, row.record);
    bad.push_back({.code = row.cause.code(),
                   .source = name.source,
                   .index = name.index,
                   .epoch = slot.epoch,
                   .step = slot.step,
                   .slot = row.slot,
                   .replacement = row.replacement < 0 ? -1 : sample_name(source, row.replacement).index,
                   .message = row.cause.message()});
  }
  return max_bad < 0 || static_cast<int64_t>(bad.size()) <= max_bad;
}

Status bad_step_error(const Slot& slot, const Source& source, const std::vector<BadRow>& rows) {
  constexpr size_t kNamed = 8;  // more would be cut from the message anyway
  std::string causes;
  int64_t first = -1, count = 0;
  for (const BadRow& row : rows) {
    if (row.replacement >= 0) continue;
    if (first < 0) first = row.record;
    if (count++ < static_cast<int64_t>(kNamed)) {
      causes +=
          concat(causes.empty() ? "" : "; ", sample_text(source, row.record), ": ", row.cause.message());
    }
  }
  if (count > static_cast<int64_t>(kNamed)) causes += concat("; and ", count - kNamed, " more");
  return with_record(error(Code::kBadSample, "step ", slot.step, ": ", count, " of ", slot.loaded,
                           " samples are bad: ", causes),
                     source, first);
}

Result<LoaderStats> Loader::stats() const {
  if (forked()) return forked_error();
  // Not under mutex_: while the loader ends it waits for workers, one of which may wait for mutex_.
  const int64_t worker_cpu_ns = pool_->cpu_ns();
  ThreadLock lock(mutex_);
  LoaderStats stats;
  stats.num_workers = static_cast<int32_t>(pool_->active());
  stats.ledger = ledger_.counters();
  stats.bad = static_cast<int64_t>(ledger_.bad.size());
  stats.worker_cpu_ns = worker_cpu_ns;
  stats.arena_bytes = arena_.counted_bytes();
  stats.held_bytes = memory_->in_use_bytes();
  stats.budget_bytes = config_->memory.budget_bytes;
  stats.leases_held = leases();
  stats.ready_batches = window_->ready_count();
  stats.threads_abandoned = abandoned_threads_;
  stats.pinned_bytes = delivery_->pinned_slots() * arena_.plan().slot_stride;
  stats.device_bytes = device_->device_bytes();
  stats.copied_bytes = delivery_->copied_bytes();
  if (cache_counts_ != nullptr) {
    stats.cache_read = cache_counts_->read.load(std::memory_order_relaxed);
    stats.cache_made = cache_counts_->made.load(std::memory_order_relaxed);
  }
  return stats;
}

Result<PixelScale> Loader::pixel_scale(int64_t field, int64_t channel) const {
  const int64_t count = static_cast<int64_t>(pipeline_.outputs.size());
  if (field < 0 || field >= count)
    return error(Code::kInvalidArgument, "field ", field, ": expected 0 to ", count, " exclusive");
  const Program& program = *pipeline_.programs[static_cast<size_t>(field)];
  const std::vector<PixelScale> scales = program.pixel_scales();
  for (size_t g = 1; g < pipeline_.groups; ++g) {
    const size_t pass = g * pipeline_.outputs.size() + static_cast<size_t>(field);  // each field has its own
    if (pipeline_.passes[pass].program->pixel_scales() == scales) continue;
    return error(Code::kUnsupported, "field '", program.output().name,
                 "': the parts of the mix scale pixels differently");
  }
  if (scales.empty())
    return error(Code::kUnsupported, "field '", program.output().name, "': its values are not pixels");
  const int64_t channels = static_cast<int64_t>(scales.size());
  if (channel < 0 || (channels > 1 && channel >= channels))
    return error(Code::kInvalidArgument, "channel ", channel, ": expected 0 to ", channels, " exclusive");
  return scales[channels > 1 ? static_cast<size_t>(channel) : 0];
}

int64_t Loader::part_count() const {
  const Mix* const mix = pipeline_.source != nullptr ? pipeline_.source->facts().mix : nullptr;
  return mix != nullptr ? mix->part_count() : 0;
}

Result<PartStats> Loader::part(int64_t index) const {
  if (forked()) return forked_error();
  ThreadLock lock(mutex_);
  return book_.part(index, position_.epoch, steps_.rows_before(position_.step), ledger_.samples);
}

Result<Tuned> Loader::tuned() const {
  if (forked()) return forked_error();
  ThreadLock lock(mutex_);
  return tuning_->tuned();
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
