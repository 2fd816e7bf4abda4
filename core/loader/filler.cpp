// SPDX-License-Identifier: Apache-2.0
#include "core/loader/filler.h"

#include <algorithm>
#include <numeric>

#include "core/base/over_budget.h"
#include "core/source/composed/mix.h"

namespace dataline {
namespace {

// A slot has two words a row for them (core/batch/layout.h).
static_assert(sizeof(RowExtent) == 2 * sizeof(int64_t) && offsetof(RowExtent, height) == 0);

// Work on a slot whose batch is lost when memory runs out: only OverBudget and bad_alloc can come.
template <typename Work>
void or_lose(Slot& slot, Work work) noexcept {
  try {
    work();
  } catch (const OverBudget& refused) {
    try {
      slot.lose(refused.status("its samples"));
    } catch (...) {
      slot.lost.store(true);
    }
  } catch (...) {
    slot.lost.store(true);
  }
}

}  // namespace

int64_t WorkerScratch::bytes_for(const Pipeline& pipeline) {
  return pipeline.record_scratch_bytes * pipeline.run_records + pipeline.program_scratch_bytes + 64;
}

WorkerScratch::WorkerScratch(const Pipeline& pipeline, std::byte* memory, PassStates pass_states,
                             int32_t thread_number)
    : RunMemory(*pipeline.source, kMaxRunRecords, memory),
      thread(thread_number),
      indices(kMaxRunRecords),
      slots(pipeline.calls_host ? kMaxRunRecords : 0),
      groups(pipeline.groups > 1 ? kMaxRunRecords : 0),
      program_scratch(memory + pipeline.record_scratch_bytes * pipeline.run_records),
      states(std::move(pass_states)),
      group_of_row_(groups.size()),
      of_group_(groups.size()) {}

void WorkerScratch::set_slots(int64_t epoch, int64_t first_slot) {
  call.epoch = epoch;
  std::iota(slots.begin(), slots.begin() + run.count, first_slot);
  run.slots = slots.data();
}

void WorkerScratch::run_pass(const Source& source, const StoragePass& pass, FieldRows& rows) {
  const Run::ColumnRows& column = run.columns[pass.column];
  rows.source = column.data;
  rows.contiguous = pass.whole_column && column.contiguous;
  run_rows(source, pass, rows);
}

void WorkerScratch::find_groups(const Mix& mix) {
  groups.clear();  // its memory stays
  for (int64_t i = 0; i < run.count; ++i) {
    const int32_t group = mix.group_of(mix.part_of(run.indices[i]));
    group_of_row_[static_cast<size_t>(i)] = group;
    if (std::find(groups.begin(), groups.end(), group) == groups.end()) groups.push_back(group);
  }
}

void WorkerScratch::run_pass(const Source& source, const StoragePass& pass, int32_t group, FieldRows& rows) {
  const Run::ColumnRows& column = run.columns[pass.column];
  for (int64_t i = 0; i < run.count; ++i) {
    const auto row = static_cast<size_t>(i);
    of_group_[row] = group_of_row_[row] == group ? column.data[i] : nullptr;
  }
  rows.source = of_group_.data();
  rows.contiguous = false;
  run_rows(source, pass, rows);
}

// For programs whose rows all have one size, in a field whose size differs from group to group.
void WorkerScratch::tell_size(int64_t bytes, int32_t group, const FieldRows& rows) const {
  for (int64_t i = 0; i < run.count; ++i) {
    if (of_group_[static_cast<size_t>(i)] == nullptr) continue;
    rows.target_bytes[i] = bytes;
    rows.target_extents[i] = {group, 0};
  }
}

void WorkerScratch::run_rows(const Source& source, const StoragePass& pass, FieldRows& rows) {
  rows.count = run.count;
  rows.source_bytes = run.columns[pass.column].bytes;
  rows.source_offset = pass.source_offset;
  rows.scratch = program_scratch;
  rows.errors = &errors;
  const size_t known = errors.all().size();
  pass.program->run(rows);
  if (errors.all().size() > known) name_places(source, run, static_cast<size_t>(pass.column), known);
}

void Filler::fill(Slot& slot, const BatchOrder& order, int64_t run, WorkerScratch& scratch) noexcept {
  const int64_t row = run * pipeline_->run_records;
  const int64_t count = std::min(slot.samples - row, pipeline_->run_records);
  if (count <= 0) return;
  if (scratch.watch != nullptr) scratch.watch->begin_run({slot.epoch, slot.step, run == 0});
  or_lose(slot, [&] { fill_rows(slot, order, row, count, scratch); });
  scratch.enter(stage::kOutside);
}

void Filler::recheck(Slot& slot, const BatchOrder& order, WorkerScratch& scratch) const noexcept {
  if (!slot.lost.load()) or_lose(slot, [&] { recheck_rows(slot, order, scratch); });
}

void Filler::pack(Slot& slot, WorkerScratch& scratch) const noexcept {
  if (slot.lost.load()) return;
  or_lose(slot, [&] {
    if (!slot.finish()) {
      return slot.lose(
          error(Code::kOverBudget, "its packed rows do not fit into memory_budget (", setup_.budget_bytes,
                ") with the memory in use; raise it, or lower batch_size, prefetch_depth or max_leases"));
    }
    if (!slot.bad_rows().empty()) {
      name_misfits(slot);
      slot.drop_bad_rows();
    }
    name_samples(slot);
    mix(slot, scratch);
  });
}

void Filler::fill_rows(Slot& slot, const BatchOrder& order, int64_t row, int64_t count,
                       WorkerScratch& scratch) {
  scratch.enter(stage::kOrder);
  if (order.table != nullptr) tables_->ensure_ready(*order.table);
  Run& run = scratch.run;
  run.contiguous = order_rows(slot, order, row, count);
  run.count = count;
  run.indices = slot.records + row;
  run.opened_ns = slot.opened_ns;
  run.max_bytes_per_sample = pipeline_->max_bytes_per_sample;
  if (!pipeline_->resident) {
    if (block_job_.steps_per_block > 0) request_blocks(slot, order);
    run.cold = lookahead_.observe(*pipeline_->source, run.indices[0]);
    if (run.cold) look_ahead(slot, order, row, count, scratch);
  }

  scratch.warned = 0;
  read_rows(slot, row, scratch);
  if (!scratch.errors.empty()) {
    const std::vector<RowError> failed = std::move(scratch.errors.all());
    for (const RowError& failure : failed)
      repair_row(slot, order, row + failure.row, failure.status, nullptr, scratch);
  }
  // Relaxed: published with the rows, by the slot's state.
  if (scratch.warned > 0) slot.warned.fetch_add(scratch.warned, std::memory_order_relaxed);
  scratch.enter(stage::kOrder);
  if (order.table != nullptr) tables_->work_ahead(scratch.thread);
}

// Writes the samples of the rows; true when the samples are consecutive.
bool Filler::order_rows(Slot& slot, const BatchOrder& order, int64_t row, int64_t count) const {
  int64_t* samples = slot.records + row;
  const SlotGroup& group = steps_->group(slot.group);
  const int64_t first = slot.first_slot + row - group.first_slot;  // in the group
  const int64_t real = std::clamp<int64_t>(group.slots - first, 0, count);
  const auto order_slots = [&](int64_t begin, int64_t piece, int64_t* out) {
    return order.order->samples(slot.epoch, order.epoch_table(), group.first_slot + begin, piece, out);
  };
  bool contiguous = count == real;
  if (real > 0) contiguous = order_slots(first, real, samples) && contiguous;
  // Padding repeats the first slots of the epoch, or of the bucket, cyclically.
  for (int64_t at = real; at < count;) {
    const int64_t begin = (first + at) % group.slots;
    const int64_t piece = std::min(count - at, group.slots - begin);
    order_slots(begin, piece, samples + at);
    at += piece;
  }
  return contiguous;
}

void Filler::read_rows(Slot& slot, int64_t row, WorkerScratch& scratch) const {
  const ReturnLoans once_read(scratch.loans);
  if (pipeline_->calls_host) scratch.set_slots(slot.epoch, slot.first_slot + row);
  if (pipeline_->resident) {
    scratch.errors.clear();  // only geometry is drawn
  } else {
    scratch.enter(stage::kRead);
    scratch.locate(*pipeline_->source);
    if (scratch.times() != nullptr)
      scratch.watch->add_bytes(stage::kRead, pipeline_->source->stored_bytes() * scratch.run.count);
  }

  FieldRows rows;
  rows.first_slot = slot.first_slot + row;
  rows.seed = setup_.seed;
  rows.epoch = slot.epoch;
  rows.warned = &scratch.warned;
  if (const BucketShape* bucket = slot.bucket(); bucket != nullptr)
    rows.bucket = {bucket->height, bucket->width};
  const bool by_group = pipeline_->groups > 1;
  if (by_group) scratch.find_groups(*pipeline_->source->facts().mix);
  const auto state_of = [&](size_t pass) {
    return scratch.states.empty() ? nullptr : scratch.states[pass].get();
  };
  const size_t storages = pipeline_->passes.size() / pipeline_->groups;
  for (size_t s = 0; s < storages; ++s) {
    const Storage& storage = slot.layout().storages[s];
    rows.target_stride = slot.row_stride(s);
    rows.target = slot.rows(s) + row * rows.target_stride;
    if (storage.has_shares()) {
      rows.target_bytes = slot.row_bytes(s) + row;
      std::fill_n(rows.target_bytes, scratch.run.count, 0);
    }
    rows.target_extents = storage.varies ? reinterpret_cast<RowExtent*>(slot.extents(s)) + row : nullptr;
    if (by_group) {
      for (const int32_t group : scratch.groups) {
        const size_t pass = static_cast<size_t>(group) * storages + s;
        rows.state = state_of(pass);
        enter_pass(pass, rows, scratch);
        scratch.run_pass(*pipeline_->source, pipeline_->passes[pass], group, rows);
        const Field& output = pipeline_->passes[pass].program->output();
        if (storage.varies && !output.varies()) scratch.tell_size(output.bytes(), group, rows);
      }
    } else {
      rows.state = state_of(s);
      enter_pass(s, rows, scratch);
      scratch.run_pass(*pipeline_->source, pipeline_->passes[s], rows);
    }
    if (storage.has_shares()) hold_rows(slot, s, row, scratch);
  }
  for (const RowError& failure : scratch.errors.all()) slot.forget_row(row + failure.row);
}

// The pass's time is measured from here, and what it makes.
void Filler::enter_pass(size_t pass, FieldRows& rows, const WorkerScratch& scratch) const {
  scratch.enter(stage::kFirstPass + static_cast<int32_t>(pass));
  Stopwatch::Times* const times = scratch.times();
  const int64_t runs = scratch.watch->runs_measured();
  const bool divided = times != nullptr && times->parts_of(pass) != nullptr && runs > 0;
  rows.parts = divided ? &times->part_times[pass] : nullptr;
  rows.clock = divided ? &times->clock : nullptr;
  if (divided) rows.parts->runs = runs;
  if (times == nullptr) return;
  const int64_t row_bytes = pipeline_->passes[pass].program->output().bytes();
  if (row_bytes > 0)
    scratch.watch->add_bytes(stage::kFirstPass + static_cast<int32_t>(pass), row_bytes * scratch.run.count);
}

// Counts what the rows took of their shares.
void Filler::hold_rows(Slot& slot, size_t storage, int64_t row, WorkerScratch& scratch) const {
  for (int64_t i = 0; i < scratch.run.count; ++i) {
    const int64_t bytes = slot.row_bytes(storage)[row + i];
    if (slot.hold_row(storage, row + i, bytes)) continue;
    scratch.errors.fail(
        i,
        error(Code::kOverBudget, "its ", bytes, " bytes do not fit into memory_budget (", setup_.budget_bytes,
              ") with the memory in use; raise it, or lower batch_size, prefetch_depth or max_leases"));
  }
}

// Where consumers find the rows: in which part of a mix, and where in it. Without a mix that is their records.
void Filler::name_samples(Slot& slot) const {
  if (pipeline_->source->facts().mix == nullptr) return;
  for (int64_t row = 0; row < slot.samples; ++row) {
    const SampleName name = sample_name(*pipeline_->source, slot.records[row]);
    slot.sample_sources[row] = name.source;
    slot.sample_indices[row] = name.index;
  }
}

void Filler::mix(Slot& slot, WorkerScratch& scratch) const {
  for (const MixStep& step : pipeline_->mixes) {
    const MixDraw draw = draw_mix(step.mix, setup_.seed, slot.epoch, slot.step);
    const auto rows_of = [&](const MixedField& field) {
      const auto storage = static_cast<size_t>(field.storage);
      return MixRows{.first = slot.rows(storage) + field.offset,
                     .count = slot.samples,
                     .stride = slot.packed_bytes(storage),
                     .row_bytes = field.row_bytes,
                     .scratch = scratch.program_scratch};
    };
    if (step.mix.kind == MixKind::kMixup) {
      blend_rows(rows_of(step.image), step.image.dtype, draw.lambda, target_);
    } else {
      paste_rows(rows_of(step.image), step.mix.shape, dtype_bytes(step.image.dtype), draw);
    }
    blend_rows(rows_of(step.labels), step.labels.dtype, draw.lambda, target_);
  }
}

// Requests blocks that are not in memory, where looking takes two system calls a block, and those that a source opens.
class RequestBlocks final : public RecordRanges {
 public:
  explicit RequestBlocks(const Source& source) : source_(&source) {}
  void add(RecordRange block) override {
    const bool cached = source_->cached(block.first) && source_->cached(block.first + block.count - 1);
    if (cached && !source_->facts().opens_blocks) return;
    source_->advise_block(block.first, block.count);
    cold_ = cold_ || !cached;
  }
  bool cold() const { return cold_; }

 private:
  const Source* source_;
  bool cold_ = false;
};

// Requests the blocks that are due, each in one long read. Blocks of the next epoch are not: its table may not be ready.
void Filler::request_blocks(const Slot& slot, const BatchOrder& order) {
  Order::Sweep sweep{.row = block_rows_.begin, .rows = block_rows_.count()};
  bool behind = false;
  if (!block_lookahead_.claim(block_job_, slot.epoch, slot.step, sweep, behind)) return;
  RequestBlocks blocks(*pipeline_->source);
  order.order->find_blocks(*order.epoch_table(), sweep, blocks);
  // Until then records are requested one by one, too.
  if (behind && blocks.cold()) lookahead_.stay_cold();
}

// Requests this run's records from storage, unless an earlier run did, and those kRecordsAhead rows later; past the end of
// the epoch too, unless that needs a table that may not be ready.
void Filler::look_ahead(const Slot& slot, const BatchOrder& order, int64_t row, int64_t count,
                        WorkerScratch& scratch) {
  const int64_t rows_per_step = steps_->max_rows();
  const int64_t here = (slot.epoch * steps_->count() + slot.step) * rows_per_step + row;
  const int64_t until = here + count + Lookahead::kRecordsAhead;
  // The first run requests only its own records, so that the first batch is not late; each later one up to twice its rows,
  // until the lead is built up.
  const bool fresh = lookahead_.fresh();
  const int pieces = fresh ? 1 : 2;
  const int64_t rows = fresh ? count : std::max(count, Lookahead::kMinPiece);
  int64_t begin = 0, end = 0;
  for (int piece = 0; piece < pieces && lookahead_.claim(here, count, rows, until, begin, end); ++piece) {
    int64_t wanted = 0;
    for (int64_t at = begin; at < end;) {
      const int64_t epoch = at / rows_per_step / steps_->count();
      if (epoch != slot.epoch && order.table != nullptr) break;
      const StepRange range = steps_->step(epoch, at / rows_per_step % steps_->count());
      const int64_t offset = at % rows_per_step;
      const int64_t take = std::min(end - at, rows_per_step - offset);
      const int64_t real = std::clamp<int64_t>(range.valid - offset, 0, take);
      if (real > 0) {
        order.order->samples(epoch, order.epoch_table(), range.first_slot + offset, real,
                             scratch.indices.data() + wanted);
        wanted += real;
      }
      at += take;
    }
    // Checked before the request: requested records are cached by the time they are read.
    if (wanted > 0 && !pipeline_->source->cached(scratch.indices[0])) lookahead_.stay_cold();
    pipeline_->source->advise({scratch.indices.data(), static_cast<size_t>(wanted)});
  }
}

}  // namespace dataline
