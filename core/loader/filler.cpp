// SPDX-License-Identifier: Apache-2.0
#include "core/loader/filler.h"

#include <algorithm>

#include "core/base/random.h"

namespace dataline {
namespace {

constexpr int64_t kReplaceAttempts = 16;

// A slot has two words a row for them (core/batch/layout.h).
static_assert(sizeof(RowExtent) == 2 * sizeof(int64_t) && offsetof(RowExtent, height) == 0);

const EpochTable* table_of(const BatchOrder& order) {
  return order.table != nullptr ? &order.table->table : nullptr;
}

}  // namespace

int64_t WorkerScratch::bytes_for(const Pipeline& pipeline) {
  return pipeline.record_scratch_bytes * pipeline.run_records + pipeline.program_scratch_bytes + 64;
}

WorkerScratch::WorkerScratch(const Pipeline& pipeline, std::byte* memory, PassStates states)
    : states_(std::move(states)) {
  const size_t column_count = pipeline.source->schema().columns.size();
  const size_t records = static_cast<size_t>(kMaxRunRecords);
  columns_.resize(column_count);
  pointers_.resize(column_count * records);
  column_bytes_.resize(column_count * records);
  ahead_.resize(records);
  for (size_t c = 0; c < column_count; ++c) {
    columns_[c].data = pointers_.data() + c * records;
    columns_[c].bytes = column_bytes_.data() + c * records;
  }
  run_.columns = columns_.data();
  run_.errors = &errors_;
  run_.scratch = memory;
  program_scratch_ = memory + pipeline.record_scratch_bytes * pipeline.run_records;
}

void Filler::fill(Slot& slot, const BatchOrder& order, int64_t row, int64_t count, WorkerScratch& scratch) {
  if (order.table != nullptr) tables_->ensure_ready(*order.table);
  Run& run = scratch.run_;
  run.contiguous = order_rows(slot, order, row, count);
  run.count = count;
  run.indices = slot.sample_indices + row;
  run.batch_stamp = slot.sequence + 1;
  run.max_bytes_per_sample = config_->max_bytes_per_sample;
  if (!pipeline_->resident) {
    run.cold = lookahead_.observe(*pipeline_->source, run.indices[0]);
    if (run.cold) look_ahead(slot, order, row, count, scratch);
  }

  read_rows(slot, row, scratch);
  if (!scratch.errors_.empty()) repair(slot, order, row, scratch);
  if (order.table != nullptr) tables_->work_ahead();
}

// Writes the samples of the rows; true when the samples are consecutive.
bool Filler::order_rows(Slot& slot, const BatchOrder& order, int64_t row, int64_t count) const {
  int64_t* samples = slot.sample_indices + row;
  const int64_t first = slot.first_slot + row;
  const int64_t real = std::clamp<int64_t>(steps_->slots() - first, 0, count);
  bool contiguous = count == real;
  if (real > 0)
    contiguous = order.order->samples(slot.epoch, table_of(order), first, real, samples) && contiguous;
  // Pads go round the epoch's first slots.
  for (int64_t at = real; at < count;) {
    const int64_t begin = (first + at) % steps_->slots();
    const int64_t piece = std::min(count - at, steps_->slots() - begin);
    order.order->samples(slot.epoch, table_of(order), begin, piece, samples + at);
    at += piece;
  }
  return contiguous;
}

void Filler::read_rows(Slot& slot, int64_t row, WorkerScratch& scratch) const {
  Run& run = scratch.run_;
  scratch.errors_.clear();
  if (!pipeline_->resident) pipeline_->source->locate(run);  // else only geometry is drawn

  FieldRows rows;
  rows.count = run.count;
  rows.first_slot = slot.first_slot + row;
  rows.seed = config_->seed;
  rows.epoch = slot.epoch;
  rows.scratch = scratch.program_scratch_;
  rows.errors = &scratch.errors_;
  for (size_t s = 0; s < pipeline_->passes.size(); ++s) {
    const Pass& pass = pipeline_->passes[s];
    const Storage& storage = slot.layout().storages[s];
    const Run::ColumnRows& column = run.columns[pass.column];
    rows.source = column.data;
    rows.source_bytes = column.bytes;
    rows.source_offset = pass.source_offset;
    rows.contiguous = pass.whole_column && column.contiguous;
    rows.target = slot.rows(s) + row * storage.row_bytes;
    rows.target_stride = storage.row_bytes;
    rows.state = scratch.states_.empty() ? nullptr : scratch.states_[s].get();
    if (storage.kind == FieldKind::kRagged || storage.varies) {
      rows.target_bytes = slot.row_bytes(s) + row;
      std::fill_n(rows.target_bytes, run.count, 0);
    }
    if (storage.varies) rows.target_extents = reinterpret_cast<RowExtent*>(slot.extents(s)) + row;
    pass.program->run(rows);
  }
}

// Gives each failed row another sample of the epoch if the policy says so, and books it.
void Filler::repair(Slot& slot, const BatchOrder& order, int64_t row, WorkerScratch& scratch) const {
  std::vector<RowError> failed = std::move(scratch.errors_.all());
  scratch.errors_.clear();
  for (RowError& failure : failed) {
    BadRow bad;
    bad.row = row + failure.row;
    bad.pad = bad.row >= slot.valid;
    bad.slot = slot.first_slot + bad.row;
    bad.sample_index = slot.sample_indices[bad.row];
    bad.cause = std::move(failure.status);
    if (config_->on_error != OnError::kRaise) {
      bad.replacement = stand_in(slot, order, bad.row, bad.slot % steps_->slots(), scratch);
      if (bad.replacement < 0) slot.sample_indices[bad.row] = bad.sample_index;
    }
    for (size_t s = 0; bad.replacement < 0 && s < slot.layout().storages.size(); ++s) {
      if (slot.layout().storages[s].kind == FieldKind::kRagged) slot.row_bytes(s)[bad.row] = 0;
    }
    slot.add_bad(std::move(bad));
  }
}

void Filler::mix(Slot& slot, WorkerScratch& scratch) const {
  for (const MixStep& step : pipeline_->mixes) {
    const MixDraw draw = draw_mix(step.mix, config_->seed, slot.epoch, slot.step);
    const auto rows_of = [&](const MixedField& field) {
      const auto storage = static_cast<size_t>(field.storage);
      return MixRows{.first = slot.rows(storage) + field.offset,
                     .count = slot.samples,
                     .stride = slot.packed_bytes(storage),
                     .row_bytes = field.row_bytes,
                     .scratch = scratch.program_scratch_};
    };
    if (step.mix.kind == MixKind::kMixup) {
      blend_rows(rows_of(step.image), step.image.dtype, draw.lambda, target_);
    } else {
      paste_rows(rows_of(step.image), step.mix.shape, dtype_bytes(step.image.dtype), draw);
    }
    blend_rows(rows_of(step.labels), step.labels.dtype, draw.lambda, target_);
  }
}

// Which sample stands in depends on (seed, epoch, slot, attempt) alone. Returns it, or -1 after the last attempt.
int64_t Filler::stand_in(Slot& slot, const BatchOrder& order, int64_t row, int64_t order_slot,
                         WorkerScratch& scratch) const {
  const uint64_t key = random_key(config_->seed, static_cast<uint64_t>(slot.epoch), Domain::kReplacement);
  for (int64_t attempt = 0; attempt < kReplaceAttempts; ++attempt) {
    const uint64_t bits = random_bits(key, static_cast<uint64_t>(order_slot), static_cast<uint64_t>(attempt));
    const int64_t other = static_cast<int64_t>(random_below(bits, static_cast<uint64_t>(steps_->slots())));
    order.order->samples(slot.epoch, table_of(order), other, 1, slot.sample_indices + row);
    Run& run = scratch.run_;
    run.count = 1;
    run.contiguous = true;
    run.indices = slot.sample_indices + row;
    read_rows(slot, row, scratch);
    if (scratch.errors_.empty()) return slot.sample_indices[row];
  }
  scratch.errors_.clear();
  return -1;
}

// Asks storage for this run's records, unless an earlier one did, and for those that come kRecordsAhead rows later; over
// the epoch's end too, unless that takes a table which may not be ready.
void Filler::look_ahead(const Slot& slot, const BatchOrder& order, int64_t row, int64_t count,
                        WorkerScratch& scratch) {
  const int64_t rows_per_step = steps_->max_rows();
  const int64_t here = (slot.epoch * steps_->count() + slot.step) * rows_per_step + row;
  const int64_t until = here + count + Lookahead::kRecordsAhead;
  // The first run asks for its own records and no more, so that the first batch is not late; each later one for twice
  // its rows at most, until the head start is made up.
  const bool fresh = lookahead_.fresh();
  const int pieces = fresh ? 1 : 2;
  const int64_t rows = fresh ? count : std::max(count, Lookahead::kLeastPiece);
  int64_t begin = 0, end = 0;
  for (int piece = 0; piece < pieces && lookahead_.claim(here, count, rows, until, begin, end); ++piece) {
    int64_t wanted = 0;
    for (int64_t at = begin; at < end;) {
      const int64_t epoch = at / rows_per_step / steps_->count();
      if (epoch != slot.epoch && order.table != nullptr) break;
      const StepRange range = steps_->step(at / rows_per_step % steps_->count());
      const int64_t offset = at % rows_per_step;
      const int64_t take = std::min(end - at, rows_per_step - offset);
      const int64_t real = std::clamp<int64_t>(range.valid - offset, 0, take);
      if (real > 0) {
        order.order->samples(epoch, table_of(order), range.first_slot + offset, real,
                             scratch.ahead_.data() + wanted);
        wanted += real;
      }
      at += take;
    }
    // Looked at before it is asked for: records that were asked for are in memory by the time they are read.
    if (wanted > 0 && !pipeline_->source->resident(scratch.ahead_[0])) lookahead_.stay_cold();
    pipeline_->source->advise({scratch.ahead_.data(), static_cast<size_t>(wanted)});
  }
}

}  // namespace dataline
