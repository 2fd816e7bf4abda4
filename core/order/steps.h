// How an epoch's slots are cut into steps, and which rows of a step are a rank's. The only place that answers how many rows a step
// has: over all ranks, on a rank, by bucket.
//
// Most orders are one group of slots whose pieces follow each other; with buckets (buckets.h), and in homogeneous steps by repeats
// (mix.h), the order decides which piece a step is. Every epoch has the same pieces, so that counts hold for all of them.
// Threads: immutable once cut.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/order/buckets.h"
#include "core/order/order.h"

namespace dataline {

struct StepConfig;  // core/order/step_config.h

enum class LastBatch : int32_t { kKeep, kDrop, kPad };

struct StepRange {
  int64_t first_slot = 0;  // of this rank's rows; pads have slots beyond their group's
  int64_t rows = 0;        // pads included
  int64_t valid = 0;
  int32_t group = 0;  // Steps::group()
};

class Steps {
 public:
  Steps() = default;
  // Of an epoch that has no slots yet. An order is made with what is known here, then its slots are cut.
  explicit Steps(const StepConfig& config);
  // Slots that follow each other, in steps of global_batch() rows. Once.
  void cut(int64_t slots);
  // Groups of slots; the order decides which piece a step is. Once.
  void cut(std::shared_ptr<const StepOrder> order);

  // --- Of the job ---
  // Rows of a full step over all ranks, pads included. Without buckets all steps have as many; with buckets see the next one.
  int64_t global_batch() const { return global_batches_.front(); }
  std::span<const int64_t> global_batches() const { return global_batches_; }  // by bucket, if there are any
  SlotRange all_rows() const { return {0, global_batch()}; }
  // The rows of a full step that are this rank's.
  SlotRange rank_rows() const { return rank_slots(0, global_batch(), rank_, world_size_); }
  // Without buckets: rows over all ranks in the `step` full steps before a step.
  int64_t rows_before(int64_t step) const { return step * global_batch(); }
  // Every step has equally many rows on every rank, whatever the number of slots is.
  bool rows_are_fixed() const {
    return last_batch_ != LastBatch::kKeep && global_batches_.size() == 1 &&
           global_batch() % world_size_ == 0;
  }
  bool drops_short_steps() const { return last_batch_ == LastBatch::kDrop; }
  LastBatch last_batch() const { return last_batch_; }
  int64_t world_size() const { return world_size_; }

  // --- Of an epoch, once cut ---
  int64_t slots() const { return slots_; }  // over all ranks
  int64_t count() const { return steps_; }  // batches, the same number on every rank
  // Of the largest batch. Padding counts: with last_batch=pad a short epoch still has full steps.
  int64_t max_rows() const { return max_rows_; }
  // Slots of this rank that last_batch=drop drops in each epoch.
  int64_t dropped() const { return dropped_; }

  // Slots that a batch may take pads and replacements from: those of its group.
  const SlotGroup& group(int32_t group) const { return groups_[static_cast<size_t>(group)].slots; }
  int32_t group_count() const { return static_cast<int32_t>(groups_.size()); }
  int64_t max_rows(int32_t group) const { return groups_[static_cast<size_t>(group)].max_rows; }

  StepRange step(int64_t epoch, int64_t index) const {
    const int64_t piece = order_ == nullptr ? index : order_->piece(epoch, index);
    const auto found = std::upper_bound(groups_.begin(), groups_.end(), piece,
                                        [](int64_t at, const Group& group) { return at < group.end_piece; });
    const Group& group = *found;
    const int64_t begin = (piece - group.first_piece) * group.slots.rows;
    const int64_t width = last_batch_ == LastBatch::kPad
                              ? group.slots.rows
                              : std::min(group.slots.rows, group.slots.slots - begin);
    const SlotRange mine = rank_slots(begin, width, rank_, world_size_);
    return {group.slots.first_slot + mine.begin, mine.count(),
            std::clamp<int64_t>(group.slots.slots - mine.begin, 0, mine.count()),
            static_cast<int32_t>(found - groups_.begin())};
  }

 private:
  struct Group {
    SlotGroup slots;
    int64_t first_piece = 0, end_piece = 0;
    int64_t max_rows = 0;
  };
  void add(const SlotGroup& slots);

  std::vector<int64_t> global_batches_ = {1};
  LastBatch last_batch_ = LastBatch::kKeep;
  int64_t rank_ = 0, world_size_ = 1;
  std::shared_ptr<const StepOrder> order_;  // null: step t is piece t
  std::vector<Group> groups_;
  int64_t slots_ = 0, steps_ = 0, max_rows_ = 0, dropped_ = 0;
};

}  // namespace dataline
