// Fills runs of a slot: order -> source -> transform -> slot, and stands in for bad samples.
//
// Threads: fill() is called by several workers at once on disjoint rows, each with its own Scratch.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/batch/slot.h"
#include "core/loader/epoch_tables.h"
#include "core/loader/lookahead.h"
#include "core/loader/pipeline.h"
#include "core/loader/steps.h"

namespace dataline {

// What a worker needs to read one run. Made at create; steady state allocates nothing.
class WorkerScratch {
 public:
  static int64_t bytes_for(const Pipeline& pipeline);
  // memory: bytes_for, 64-byte aligned, zeroed. states: one a pass.
  WorkerScratch(const Pipeline& pipeline, std::byte* memory, PassStates states);

 private:
  friend class Filler;
  friend class ResidentReader;
  Run run_;
  RowErrors errors_;
  std::vector<Run::ColumnRows> columns_;
  std::vector<const std::byte*> pointers_;
  std::vector<int64_t> column_bytes_;
  std::vector<int64_t> ahead_;
  std::byte* program_scratch_;
  PassStates states_;
};

// The order of a batch: which one, and its epoch's table.
struct BatchOrder {
  std::shared_ptr<const Order> order;
  EpochTables::Entry* table = nullptr;
};

class Filler {
 public:
  Filler(const Pipeline& pipeline, const LoaderConfig& config, const Steps& steps, EpochTables& tables)
      : pipeline_(&pipeline), config_(&config), steps_(&steps), tables_(&tables) {}

  // Rows [row, row + count) of the slot; count <= pipeline.run_records.
  void fill(Slot& slot, const BatchOrder& order, int64_t row, int64_t count, WorkerScratch& scratch);
  // mixup and cutmix, on the rows that are left. By the last worker, after Slot::drop_bad_rows().
  void mix(Slot& slot, WorkerScratch& scratch) const;
  void restart_lookahead() { lookahead_.restart(); }

 private:
  bool order_rows(Slot& slot, const BatchOrder& order, int64_t row, int64_t count) const;
  void read_rows(Slot& slot, int64_t row, WorkerScratch& scratch) const;
  void repair(Slot& slot, const BatchOrder& order, int64_t row, WorkerScratch& scratch) const;
  int64_t stand_in(Slot& slot, const BatchOrder& order, int64_t row, int64_t order_slot,
                   WorkerScratch& scratch) const;
  void look_ahead(const Slot& slot, const BatchOrder& order, int64_t row, int64_t count,
                  WorkerScratch& scratch);

  const Pipeline* pipeline_;
  const LoaderConfig* config_;
  const Steps* steps_;
  EpochTables* tables_;
  SimdTarget target_ = best_simd_target();
  Lookahead lookahead_;
};

}  // namespace dataline
