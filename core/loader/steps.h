// Where each step lies in an epoch, and which part of it is this rank's. Pure arithmetic.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/loader/options.h"
#include "core/order/order.h"

namespace dataline {

// (epoch, step) with 0 <= step <= steps; step == steps: END_OF_EPOCH is still due.
struct Position {
  int64_t epoch = 0;
  int64_t step = 0;
  bool operator==(const Position&) const = default;
};

struct StepRange {
  int64_t first_slot = 0;  // pads have slots >= Steps::slots()
  int64_t rows = 0;        // pads included
  int64_t valid = 0;
};

class Steps {
 public:
  Steps() = default;
  Steps(int64_t slots, const LoaderConfig& config)
      : slots_(slots),
        global_(config.global_batch),
        last_(config.last_batch),
        rank_(config.rank),
        world_(config.world_size) {
    steps_ =
        last_ == LastBatch::kDrop ? slots_ / global_ : slots_ / global_ + (slots_ % global_ != 0 ? 1 : 0);
  }

  int64_t slots() const { return slots_; }  // of an epoch, over all ranks
  int64_t count() const { return steps_; }  // batches in an epoch, the same on every rank
  // Padding counts: with last_batch=pad a short epoch still has full steps.
  int64_t max_rows() const {
    const int64_t width = last_ == LastBatch::kPad ? global_ : std::min(global_, slots_);
    return width / world_ + (width % world_ != 0 ? 1 : 0);
  }

  StepRange step(int64_t index) const {
    const int64_t begin = index * global_;
    const int64_t width = last_ == LastBatch::kPad ? global_ : std::min(global_, slots_ - begin);
    const SlotRange mine = rank_slots(begin, width, rank_, world_);
    return {mine.begin, mine.count(), std::clamp<int64_t>(slots_ - mine.begin, 0, mine.count())};
  }
  // Slots of this rank that last_batch=drop drops in each epoch.
  int64_t dropped() const {
    if (last_ != LastBatch::kDrop) return 0;
    const int64_t begin = steps_ * global_;
    return rank_slots(begin, slots_ - begin, rank_, world_).count();
  }

 private:
  int64_t slots_ = 0, steps_ = 0, global_ = 1;
  LastBatch last_ = LastBatch::kKeep;
  int64_t rank_ = 0, world_ = 1;
};

}  // namespace dataline
