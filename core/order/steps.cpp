// SPDX-License-Identifier: Apache-2.0
#include "core/order/steps.h"

#include <utility>

#include "core/order/step_config.h"

namespace dataline {

Steps::Steps(const StepConfig& config)
    : global_batches_(config.global_batches),
      last_batch_(config.last_batch),
      rank_(config.rank),
      world_size_(config.world_size) {}

void Steps::cut(int64_t slots) { add({0, slots, global_batch()}); }

void Steps::cut(std::shared_ptr<const StepOrder> order) {
  order_ = std::move(order);
  for (const SlotGroup& group : order_->groups()) add(group);
}

void Steps::add(const SlotGroup& slots) {
  const bool drop = drops_short_steps();
  const int64_t pieces = slots.slots / slots.rows + (!drop && slots.slots % slots.rows != 0 ? 1 : 0);
  const int64_t width = last_batch_ == LastBatch::kPad ? slots.rows : std::min(slots.rows, slots.slots);
  Group group{slots, steps_, steps_ + pieces, 0};
  // A bucket without steps needs no memory in a slot.
  if (pieces > 0 || order_ == nullptr)
    group.max_rows = width / world_size_ + (width % world_size_ != 0 ? 1 : 0);
  groups_.push_back(group);
  slots_ += slots.slots;
  steps_ += pieces;
  max_rows_ = std::max(max_rows_, group.max_rows);
  if (drop) {
    const int64_t begin = pieces * slots.rows;
    dropped_ += rank_slots(begin, slots.slots - begin, rank_, world_size_).count();
  }
}

}  // namespace dataline
