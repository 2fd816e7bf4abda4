// How much memory a loader takes, decided at create: slots, order tables and scratch memory, in one arena that never grows.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "core/base/status.h"
#include "core/loader/config.h"
#include "core/loader/pipeline.h"
#include "core/loader/steps.h"

namespace dataline {

struct MemoryPlan {
  int64_t slot_count = 0;
  int64_t slots_offset = 0, slot_stride = 0;
  int64_t shares_stride =
      0;  // of each slot, in address space of its own: not in arena_bytes; 0: they are in the slot
  int64_t table_count = 0, tables_offset = 0, table_stride = 0;
  int64_t scratch_count = 0, scratch_offset = 0, scratch_stride = 0;
  int64_t state_count = 0,
          state_bytes = 0;  // what programs keep for each thread that fills, beside the arena
  int64_t arena_bytes = 0;
  int64_t held_bytes = 0;  // at most: the arena, what the order allocated, and states
};

// pinned: slots are page-locked, so all of their memory is touched. kOverBudget names the smallest memory_budget that works
// and the options to lower.
Result<MemoryPlan> plan_memory(const LoaderConfig& config, const Pipeline& pipeline, const Order& order,
                               const Steps& steps, bool pinned);

}  // namespace dataline
