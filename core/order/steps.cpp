// SPDX-License-Identifier: Apache-2.0
#include "core/order/steps.h"

#include <utility>

namespace dataline {

void Steps::cut(int64_t slots) { add({0, slots, global_batch()}); }

void Steps::cut(std::shared_ptr<const StepOrder> order) {
  order_ = std::move(order);
  for (const SlotGroup& group : order_->groups()) add(group);
}

void Steps::add(const SlotGroup& slots) {
  const bool drop = drops_short_steps();
  const int64_t world = config_.world_size;
  const int64_t pieces = slots.slots / slots.rows + (!drop && slots.slots % slots.rows != 0 ? 1 : 0);
  const int64_t width =
      config_.last_batch == LastBatch::kPad ? slots.rows : std::min(slots.rows, slots.slots);
  Group group{slots, steps_, steps_ + pieces, 0};
  // A bucket without steps needs no memory in a slot.
  if (pieces > 0 || order_ == nullptr) group.max_rows = width / world + (width % world != 0 ? 1 : 0);
  groups_.push_back(group);
  slots_ += slots.slots;
  steps_ += pieces;
  max_rows_ = std::max(max_rows_, group.max_rows);
  if (drop) {
    const int64_t begin = pieces * slots.rows;
    dropped_ += rank_slots(begin, slots.slots - begin, config_.rank, world).count();
  }
}

}  // namespace dataline
