// Rows that failed: read again, replaced, recorded as bad, or reported as a failure of the machine.
// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "core/base/random.h"
#include "core/base/thread.h"
#include "core/loader/filler.h"
#include "core/memory/file.h"
#include "core/source/composed/mix.h"

namespace dataline {
namespace {

constexpr int64_t kReplaceAttempts = 16;

void lose(Slot& slot, const Source& source, int64_t record, Status cause) {
  slot.lose(with_record(std::move(cause).in(sample_text(source, record)), source, record));
}

// The machine fell short, or the rows were cancelled or their read interrupted: not the sample's fault.
bool ends_batch(const Status& cause) {
  return cause.code() == Code::kCancelled || cause.code() == Code::kInterrupted || is_machine_failure(cause);
}

Status take_error(RowErrors& errors) {
  Status status = std::move(errors.all().front().status);
  errors.clear();
  return status;
}

}  // namespace

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
      repair(slot, order, row, failure.status, some_known ? slot.find_bad(row) : nullptr, scratch);
    }
  }
  slot.warned.fetch_add(scratch.warned,
                        std::memory_order_relaxed);  // published with the rows, by the slot's state
}

// Replaces the sample of a failed row if on_error says so, and records the row as bad. If the machine is to blame (no
// memory, no descriptors), the whole batch is filled again instead, so that the stream does not depend on a momentary
// shortage; if the loader was cancelled while the host read, it is lost the same way, and nobody sees it. `known`: the row is recorded already, and now its replacement has failed.
void Filler::repair(Slot& slot, const BatchOrder& order, int64_t row, Status cause, BadRow* known,
                    WorkerScratch& scratch) const {
  if (slot.lost.load() || (known != nullptr && known->replacement < 0)) return;
  BadRow bad;
  bad.row = row;
  bad.pad = row >= slot.valid;
  bad.slot = slot.first_slot + row;
  bad.record = known != nullptr ? known->record : slot.records[row];
  if (ends_batch(cause)) return lose(slot, *pipeline_->source, slot.records[row], std::move(cause));
  // A drive may fail once, or for a moment, and be back before the next read: what was found with its errors on the way is
  // looked for once more. So one that comes back costs no sample, and changes no stand-in.
  const int64_t record = slot.records[row];
  bool refused = true;
  for (int round = 0; round < 2 && refused; ++round) {
    slot.records[row] = record;
    refused = cause.code() == Code::kIo;
    if (refused) {
      Status again = read_row(slot, row, scratch);
      if (again.is_ok()) return;
      cause = std::move(again);
    } else if (Status changed = confirm_row(slot, row, slot.opened_ns, scratch); !changed.is_ok()) {
      cause = std::move(changed);  // to a decoder a truncated file looks damaged
    }
    if (ends_batch(cause)) return lose(slot, *pipeline_->source, record, std::move(cause));

    // A drive that fails for every sample is gone for now; the sample is lost only if others can be read.
    if (config_->on_error != OnError::kRaise || cause.code() == Code::kIo) {
      bad.replacement = stand_in(slot, order, row, cause, scratch, &refused);
      if (slot.lost.load()) return;
    }
  }
  if (config_->on_error == OnError::kRaise) bad.replacement = -1;
  if (bad.replacement < 0) slot.records[row] = bad.record;
  for (size_t s = 0; bad.replacement < 0 && s < slot.layout().storages.size(); ++s) {
    if (slot.layout().storages[s].kind == FieldKind::kRagged) slot.row_bytes(s)[row] = 0;
  }
  if (known != nullptr) {
    known->replacement = bad.replacement;
    return;
  }
  bad.cause = std::move(cause);
  slot.add_bad(std::move(bad));
}

// Reads one row by itself and checks its file anew.
Status Filler::read_row(Slot& slot, int64_t row, WorkerScratch& scratch) const {
  Run& run = scratch.run;
  run.count = 1;
  run.contiguous = true;
  run.cold = true;
  run.indices = slot.records + row;
  run.opened_ns = monotonic_ns();
  read_rows(slot, row, scratch);
  return scratch.errors.empty() ? confirm_row(slot, row, run.opened_ns, scratch) : take_error(scratch.errors);
}

Status Filler::confirm_row(Slot& slot, int64_t row, int64_t opened_ns, WorkerScratch& scratch) const {
  Run& run = scratch.run;
  run.count = 1;
  run.indices = slot.records + row;
  scratch.errors.clear();
  pipeline_->source->confirm(run, {opened_ns, monotonic_ns()});
  return scratch.errors.empty() ? Status::ok() : take_error(scratch.errors);
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

// The replacement depends on (seed, epoch, slot, attempt) alone. Returns it, or -1 after the last attempt. The batch is lost
// if the machine fails, or if every attempt fails with an I/O error as `cause` did. `refused` becomes true if any did.
int64_t Filler::stand_in(Slot& slot, const BatchOrder& order, int64_t row, const Status& cause,
                         WorkerScratch& scratch, bool* refused) const {
  const uint64_t key = random_key(config_->seed, static_cast<uint64_t>(slot.epoch), Domain::kReplacement);
  const SlotGroup& group = steps_->group(slot.group);
  const int64_t in_group = (slot.first_slot + row - group.first_slot) % group.slots;
  const auto order_slot = static_cast<uint64_t>(group.first_slot + in_group);
  const int64_t bad_record = slot.records[row];
  // In a mix one of the same part, so that shares stay what they are; of batches by length one of the same bucket.
  const Mix* mix = pipeline_->source->facts().mix;
  const int64_t part = mix == nullptr ? 0 : mix->part_of(bad_record);
  bool all_refused = cause.code() == Code::kIo;
  for (int64_t attempt = 0; attempt < kReplaceAttempts; ++attempt) {
    const uint64_t bits = random_bits(key, order_slot, static_cast<uint64_t>(attempt));
    if (mix != nullptr) {
      slot.records[row] = mix->start(part) +
                          static_cast<int64_t>(random_below(bits, static_cast<uint64_t>(mix->samples(part))));
    } else {
      const auto other = static_cast<int64_t>(random_below(bits, static_cast<uint64_t>(group.slots)));
      order.order->samples(slot.epoch, order.epoch_table(), group.first_slot + other, 1, slot.records + row);
    }
    Status failed = read_row(slot, row, scratch);
    if (failed.code() == Code::kIo) {
      *refused = true;
      failed = read_row(slot, row, scratch);
    }
    if (failed.is_ok()) return slot.records[row];
    if (ends_batch(failed)) {
      lose(slot, *pipeline_->source, slot.records[row], std::move(failed));
      return -1;
    }
    all_refused = all_refused && failed.code() == Code::kIo;
  }
  if (all_refused) lose(slot, *pipeline_->source, bad_record, cause);
  return -1;
}

}  // namespace dataline
