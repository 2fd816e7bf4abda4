// SPDX-License-Identifier: Apache-2.0
#include "core/loader/arena.h"

#include <algorithm>

namespace dataline {

Status Arena::allocate(const MemoryPlan& plan, int64_t slots, int64_t scratches, HostMemory& memory) {
  plan_ = plan;
  DL_ASSIGN_OR_RETURN(arena_,
                      memory.allocate(plan_.arena_bytes, kHugePageBytes, MemoryKind::kArena, "the arena"));
  DL_RETURN_IF_ERROR(
      prefault_first(std::min(plan_.slot_count, slots), std::min(plan_.scratch_count, scratches)));
  // The host's allocator may hand out used memory; tensors start from zeros so that padding tells nothing.
  if (memory.table().allocate != nullptr) std::fill_n(arena_.data(), arena_.bytes(), std::byte{0});
  DL_ASSIGN_OR_RETURN(shares_,
                      memory.allocate_address_space(
                          plan_.slot_count * plan_.shares_stride,
                          "rows without a fixed size (batch_size x max_bytes_per_sample in each slot)"));
  return Status::ok();
}

Status Arena::prefault_first(int64_t slots, int64_t scratches) const {
  DL_RETURN_IF_ERROR(prefault(arena_.data() + plan_.slots_offset, slots * plan_.slot_stride));
  return prefault(tables(), plan_.scratch_offset - plan_.tables_offset + scratches * plan_.scratch_stride);
}

SlotPlace Arena::slot(int64_t number) {
  return {.host = slots().data() + number * plan_.slot_stride,
          .shares = shares_ ? &shares_ : nullptr,
          .shares_offset = number * plan_.shares_stride};
}

}  // namespace dataline
