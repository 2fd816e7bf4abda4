// Fills runs of a slot: order -> source -> transform -> slot, and replaces bad samples.
//
// Threads: fill() is called by several workers at once on disjoint rows, each with its own Scratch.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/base/cancel.h"
#include "core/batch/slot.h"
#include "core/device/device.h"
#include "core/loader/epochs.h"
#include "core/loader/lookahead.h"
#include "core/loader/metrics/stopwatch.h"
#include "core/loader/pipeline.h"
#include "core/order/steps.h"
#include "core/source/composed/mix.h"

namespace dataline {

// What a thread that fills needs. Allocated at create; nothing is allocated per run.
struct WorkerScratch : RunMemory {
  static int64_t bytes_for(const Pipeline& pipeline);
  // memory: bytes_for() bytes, 64-byte aligned, zeroed. states: one per pass. `thread`: the number of its only user.
  WorkerScratch(const Pipeline& pipeline, std::byte* memory, PassStates states, int32_t thread);

  // What this thread spends its time with, if that is measured.
  void enter(int32_t stage) const {
    if (watch != nullptr) watch->enter(stage);
  }
  Stopwatch::Times* times() const { return watch != nullptr ? watch->times() : nullptr; }
  // The rows of the run, from the first one, lie in these slots: for sources that call the host.
  void set_slots(int64_t epoch, int64_t first_slot);
  // A pass makes rows of the records of `run`, once located; `rows` says where they go.
  void run_pass(const Source& source, const StoragePass& pass, FieldRows& rows);
  // The groups of parts that the records are of, into `groups`, for the passes below.
  void find_groups(const Mix& mix);
  // The same pass for the records of one group alone.
  void run_pass(const Source& source, const StoragePass& pass, int32_t group, FieldRows& rows);
  void tell_size(int64_t bytes, int32_t group, const FieldRows& rows) const;  // after that

  const int32_t thread;
  int64_t warned = 0;            // images of this run about which a decoder warned
  std::vector<int64_t> indices;  // for records that are no batch's
  std::vector<int64_t> slots;    // Run::slots, where the source calls the host
  std::vector<int32_t> groups;   // with several alone
  std::byte* program_scratch;
  PassStates states;  // one per pass, or none
  Stopwatch* watch = nullptr;

 private:
  void run_rows(const Source& source, const StoragePass& pass, FieldRows& rows);

  std::vector<int32_t> group_of_row_;       // of the run
  std::vector<const std::byte*> of_group_;  // its rows; null: another group's, or failed
};

// What to do with a row that failed. Until it is done the slot names the row's own record.
struct RowRepair {
  enum class Action {
    kKeep,     // the row's own sample could be read after all
    kReplace,  // `record` replaces it; its bytes are in the row
    kDrop,     // no replacement could be read
    kRefill    // the machine fell short: the whole batch must be filled again
  };
  Action action = Action::kKeep;
  int64_t record = -1;  // kReplace: the replacement; kRefill: the record that could not be read
  Status cause = {};    // why the row failed; ok with kKeep
};

class Filler {
 public:
  struct Setup {
    uint64_t seed = 0;
    bool replaces_bad_samples = false;  // on_error=replace, quarantine
    int64_t budget_bytes = 0;           // for messages
  };
  // `order`: one of those that the batches will have; the others request no blocks, or all do.
  Filler(const Pipeline& pipeline, const Setup& setup, const Steps& steps, const Order& order,
         EpochTables& tables)
      : pipeline_(&pipeline),
        setup_(setup),
        steps_(&steps),
        tables_(&tables),
        block_rows_(order.ranks_share_blocks() ? steps.all_rows() : steps.rank_rows()) {
    const bool shared = order.ranks_share_blocks();
    block_job_ = {
        .steps_per_block = shared && steps.world_size() > kMostSharingRanks ? 0 : order.steps_per_block(),
        .records_per_block = order.records_per_block(),
        .steps = steps.count(),
        .rows = shared ? steps.global_batch() : steps.max_rows()};
  }

  // Each leaves the batch lost (Slot::lose) when memory runs out.
  // Fills a run: rows [run * run_records, (run + 1) * run_records).
  void fill(Slot& slot, const BatchOrder& order, int64_t run, WorkerScratch& scratch) noexcept;
  // Once all rows are filled, by the last worker: fails and repairs the rows whose files were cut or changed while they
  // were read.
  void recheck(Slot& slot, const BatchOrder& order, WorkerScratch& scratch) const noexcept;
  // Then, by the same: packs rows without a fixed size, names rows that do not fit the batch, takes out those that have
  // no sample, mixes the rest (mixup, cutmix).
  void pack(Slot& slot, WorkerScratch& scratch) const noexcept;
  void restart_lookahead() { lookahead_.restart(), block_lookahead_.restart(); }

 private:
  void fill_rows(Slot& slot, const BatchOrder& order, int64_t row, int64_t count, WorkerScratch& scratch);
  void recheck_rows(Slot& slot, const BatchOrder& order, WorkerScratch& scratch) const;
  void name_misfits(Slot& slot) const;
  void name_samples(Slot& slot) const;
  void mix(Slot& slot, WorkerScratch& scratch) const;
  bool order_rows(Slot& slot, const BatchOrder& order, int64_t row, int64_t count) const;
  void read_rows(Slot& slot, int64_t row, WorkerScratch& scratch) const;
  void hold_rows(Slot& slot, size_t storage, int64_t row, WorkerScratch& scratch) const;
  void enter_pass(size_t pass, FieldRows& rows, const WorkerScratch& scratch) const;
  void repair_row(Slot& slot, const BatchOrder& order, int64_t row, Status cause, BadRow* known,
                  WorkerScratch& scratch) const;
  // repair.cpp
  RowRepair repair(Slot& slot, const BatchOrder& order, int64_t row, Status cause,
                   WorkerScratch& scratch) const;
  RowRepair stand_in(Slot& slot, const BatchOrder& order, int64_t row, const Status& cause,
                     WorkerScratch& scratch, bool* refused) const;
  Status read_row(Slot& slot, int64_t row, int64_t record, WorkerScratch& scratch) const;
  Status confirm_record(int64_t record, int64_t opened_ns, WorkerScratch& scratch) const;
  void look_ahead(const Slot& slot, const BatchOrder& order, int64_t row, int64_t count,
                  WorkerScratch& scratch);
  void request_blocks(const Slot& slot, const BatchOrder& order);

  // Where each rank needs some of all open blocks, so many ranks read them whole: on one machine that is once, into the page cache,
  // and elsewhere at most so many times. Of more, each reads its own records one by one.
  static constexpr int64_t kMostSharingRanks = 16;

  const Pipeline* pipeline_;
  const Setup setup_;
  const Steps* steps_;
  EpochTables* tables_;
  SimdTarget target_ = best_simd_target();
  Lookahead lookahead_;
  BlockLookahead block_lookahead_;
  BlockLookahead::Job block_job_;
  SlotRange block_rows_;  // of a step, whose blocks this rank requests
};

// io=device, at create: reads every sample and sends it to `block`. `staging`: page-locked, at least staging_bytes of the plan.
// The first sample that cannot be read ends it: what the device holds has no gaps. `memory`: for what the programs keep
// meanwhile. kCancelled.
Status upload_resident(const Pipeline& pipeline, const CancelToken* token, std::span<std::byte> staging,
                       WorkerScratch& scratch, HostMemory& memory, DeviceBlock& block);

}  // namespace dataline
