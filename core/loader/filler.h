// Fills runs of a slot: order -> source -> transform -> slot, and replaces bad samples.
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

// What a thread needs to read one run. Allocated at create; nothing is allocated per run.
class WorkerScratch {
 public:
  static int64_t bytes_for(const Pipeline& pipeline);
  // memory: bytes_for() bytes, 64-byte aligned, zeroed. states: one per pass. `thread`: the number of its only user.
  WorkerScratch(const Pipeline& pipeline, std::byte* memory, PassStates states, int32_t thread);
  int32_t thread() const { return thread_; }

 private:
  friend class Filler;
  friend class ResidentReader;
  Run run_;
  RowErrors errors_;
  int64_t warned_ = 0;  // images of this run about which a decoder warned
  std::vector<Run::ColumnRows> columns_;
  std::vector<const std::byte*> pointers_;
  std::vector<int64_t> column_bytes_;
  std::vector<int64_t> ahead_;
  std::byte* program_scratch_;
  PassStates states_;
  int32_t thread_;
};

class Filler {
 public:
  Filler(const Pipeline& pipeline, const LoaderConfig& config, const Steps& steps, EpochTables& tables)
      : pipeline_(&pipeline), config_(&config), steps_(&steps), tables_(&tables) {}

  // Each leaves the batch lost (Slot::lose) when memory runs out.
  // Fills a run: rows [run * run_records, (run + 1) * run_records).
  void fill(Slot& slot, const BatchOrder& order, int64_t run, WorkerScratch& scratch) noexcept;
  // Once all rows are filled, by the last worker: fails and repairs the rows whose files were cut or changed while they
  // were read.
  void recheck(Slot& slot, const BatchOrder& order, WorkerScratch& scratch) const noexcept;
  // Then, by the same: packs rows without a fixed size, names rows that do not fit the batch, takes out those that have
  // no sample, mixes the rest (mixup, cutmix).
  void pack(Slot& slot, WorkerScratch& scratch) const noexcept;
  void restart_lookahead() { lookahead_.restart(); }

 private:
  void fill_rows(Slot& slot, const BatchOrder& order, int64_t row, int64_t count, WorkerScratch& scratch);
  void recheck_rows(Slot& slot, const BatchOrder& order, WorkerScratch& scratch) const;
  void name_misfits(Slot& slot) const;
  void mix(Slot& slot, WorkerScratch& scratch) const;
  bool order_rows(Slot& slot, const BatchOrder& order, int64_t row, int64_t count) const;
  void read_rows(Slot& slot, int64_t row, WorkerScratch& scratch) const;
  void hold_rows(Slot& slot, int64_t row, WorkerScratch& scratch) const;
  void repair_run(Slot& slot, const BatchOrder& order, int64_t row, WorkerScratch& scratch) const;
  void repair(Slot& slot, const BatchOrder& order, int64_t row, Status cause, BadRow* known,
              WorkerScratch& scratch) const;
  Status read_row(Slot& slot, int64_t row, WorkerScratch& scratch) const;
  Status confirm_row(Slot& slot, int64_t row, int64_t opened_ns, WorkerScratch& scratch) const;
  int64_t stand_in(Slot& slot, const BatchOrder& order, int64_t row, const Status& cause,
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
