// The bad rows of a slot: repaired as repair.cpp decides, recorded, looked for once more when all rows are filled, and named.
// Threads: a row is that of the thread which fills it, and of the last worker once all are filled. Records and extents change there
// alone; what all threads share (Slot::lose, Slot::add_bad) is internally synchronized.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "core/base/thread.h"
#include "core/loader/filler.h"

namespace dataline {

// In the common case this only checks, once per file of the batch, that the file has not changed.
void Filler::recheck_rows(Slot& slot, const BatchOrder& order, WorkerScratch& scratch) const {
  if (pipeline_->resident) return;
  const ReadSpan span{slot.opened_ns, monotonic_ns()};
  if (pipeline_->source->unchanged(span)) return;
  // Rows may be recorded as bad already; each is handled once here.
  const bool some_known = !slot.bad_rows().empty();
  scratch.warned = 0;
  Run& run = scratch.run;
  for (int64_t first = 0; first < slot.samples; first += kMaxRunRecords) {
    run.count = std::min(kMaxRunRecords, slot.samples - first);
    run.indices = slot.records + first;
    scratch.errors.clear();
    pipeline_->source->confirm(run, span);
    const std::vector<RowError> failed = std::move(scratch.errors.all());
    for (const RowError& failure : failed) {
      const int64_t row = first + failure.row;
      repair_row(slot, order, row, failure.status, some_known ? slot.find_bad(row) : nullptr, scratch);
    }
  }
  slot.warned.fetch_add(scratch.warned,
                        std::memory_order_relaxed);  // published with the rows, by the slot's state
}

// `known`: the row is recorded already, and now its replacement has failed.
void Filler::repair_row(Slot& slot, const BatchOrder& order, int64_t row, Status cause, BadRow* known,
                        WorkerScratch& scratch) const {
  if (slot.lost.load() || (known != nullptr && known->replacement < 0)) return;
  RowRepair what = repair(slot, order, row, std::move(cause), scratch);
  if (what.action == RowRepair::Action::kKeep || slot.lost.load()) return;
  if (what.action == RowRepair::Action::kRefill) {
    const Source& source = *pipeline_->source;
    Status named = std::move(what.cause).in(sample_text(source, what.record));
    return slot.lose(with_record(std::move(named), source, what.record));
  }
  const int64_t own = known != nullptr ? known->record : slot.records[row];
  const int64_t replacement = what.action == RowRepair::Action::kReplace ? what.record : -1;
  slot.records[row] = replacement < 0 ? own : replacement;
  for (size_t s = 0; replacement < 0 && s < slot.layout().storages.size(); ++s) {
    if (slot.layout().storages[s].kind == FieldKind::kRagged) slot.row_bytes(s)[row] = 0;
  }
  if (known != nullptr) {
    known->replacement = replacement;
    return;
  }
  slot.add_bad({.row = row,
                .slot = slot.first_slot + row,
                .record = own,
                .replacement = replacement,
                .pad = row >= slot.valid,
                .cause = std::move(what.cause)});
}

void Filler::name_misfits(Slot& slot) const {
  for (BadRow& bad : slot.bad_rows()) {
    if (bad.misfit_storage < 0) continue;
    const auto column =
        static_cast<size_t>(pipeline_->passes[static_cast<size_t>(bad.misfit_storage)].column);
    const std::string place = place_text(pipeline_->source->place_of(bad.record, column));
    bad.cause = error(bad.cause.code(), place, ": ", bad.cause.message());
  }
}

}  // namespace dataline
