// The memory of a loader, allocated at create as planned and never grown: slots, order tables and scratches in one arena, and
// the slots' shares in address space of their own.
// Threads: immutable after create; who uses which part is up to the owners of slots, tables and scratches.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/base/status.h"
#include "core/batch/slot.h"
#include "core/loader/pipeline.h"
#include "core/memory/host_memory.h"
#include "core/memory/pages.h"

namespace dataline {

class Arena {
 public:
  // At create, once. Takes the pages of the order tables and of the first `slots` slots and `scratches` scratches at once:
  // those that are used first. kNoMemory, kOverBudget.
  Status allocate(const MemoryPlan& plan, int64_t slots, int64_t scratches, HostMemory& memory);
  // Leaves the memory of the arena to a device that may still read it.
  void leak() noexcept { arena_.leak(); }

  const MemoryPlan& plan() const { return plan_; }
  std::span<std::byte> slots() const {
    return {arena_.data() + plan_.slots_offset, static_cast<size_t>(plan_.slot_count * plan_.slot_stride)};
  }
  SlotPlace slot(int64_t number);  // the device has no part in it yet
  std::byte* tables() const { return arena_.data() + plan_.tables_offset; }
  std::byte* scratch(int64_t thread) const {
    return arena_.data() + plan_.scratch_offset + thread * plan_.scratch_stride;
  }
  int64_t counted_bytes() const { return arena_.bytes() + shares_.counted_bytes(); }

 private:
  Status prefault_first(int64_t slots, int64_t scratches) const;

  MemoryPlan plan_;
  Block arena_;
  Block shares_;  // the slots' (SlotPlace::shares)
};

}  // namespace dataline
