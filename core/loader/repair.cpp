// What to do with a row whose reading failed, or whose file changed under it: read it again, replace its sample, drop it, or fill
// the whole batch again. Attempts write the row's bytes; nothing else of the slot changes before bad_rows.cpp does what was
// decided.
// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "core/base/random.h"
#include "core/base/thread.h"
#include "core/loader/filler.h"
#include "core/memory/file.h"
#include "core/source/composed/mix.h"

namespace dataline {
namespace {

using Action = RowRepair::Action;

constexpr int64_t kReplaceAttempts = 16;

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

// Looks for a replacement if on_error requires one. If the machine is to blame (no memory, no descriptors), the whole batch is filled
// again instead, so that the stream does not depend on a momentary shortage; if the loader was cancelled while the host read, it is
// lost the same way, and nobody sees it.
RowRepair Filler::repair(Slot& slot, const BatchOrder& order, int64_t row, Status cause,
                         WorkerScratch& scratch) const {
  const int64_t record = slot.records[row];
  if (ends_batch(cause)) return {Action::kRefill, record, std::move(cause)};
  RowRepair found{.action = Action::kDrop};
  // A drive may fail once, or for a moment, and be back before the next read: what was found with its errors on the way is
  // looked for once more. So one that comes back costs no sample, and changes no stand-in.
  bool refused = true;
  for (int round = 0; round < 2 && refused; ++round) {
    refused = cause.code() == Code::kIo;
    if (refused) {
      Status again = read_row(slot, row, record, scratch);
      if (again.is_ok()) return {};
      cause = std::move(again);
    } else if (Status changed = confirm_record(record, slot.opened_ns, scratch); !changed.is_ok()) {
      cause = std::move(changed);  // to a decoder a truncated file looks damaged
    }
    if (ends_batch(cause)) return {Action::kRefill, record, std::move(cause)};

    // A drive that fails for every sample is gone for now; the sample is lost only if others can be read.
    if (setup_.replaces_bad_samples || cause.code() == Code::kIo) {
      found = stand_in(slot, order, row, cause, scratch, &refused);
      if (found.action == Action::kRefill || slot.lost.load()) return found;
    }
  }
  if (!setup_.replaces_bad_samples) found = {.action = Action::kDrop};
  found.cause = std::move(cause);
  return found;
}

// Reads one record into the row alone and checks its file again.
Status Filler::read_row(Slot& slot, int64_t row, int64_t record, WorkerScratch& scratch) const {
  Run& run = scratch.run;
  run.count = 1;
  run.contiguous = true;
  run.cold = true;
  run.indices = scratch.indices.data();
  scratch.indices[0] = record;
  run.opened_ns = monotonic_ns();
  read_rows(slot, row, scratch);
  return scratch.errors.empty() ? confirm_record(record, run.opened_ns, scratch) : take_error(scratch.errors);
}

Status Filler::confirm_record(int64_t record, int64_t opened_ns, WorkerScratch& scratch) const {
  Run& run = scratch.run;
  run.count = 1;
  run.indices = scratch.indices.data();
  scratch.indices[0] = record;
  scratch.errors.clear();
  pipeline_->source->confirm(run, {opened_ns, monotonic_ns()});
  return scratch.errors.empty() ? Status::ok() : take_error(scratch.errors);
}

// The replacement depends on (seed, epoch, slot, attempt) alone. kDrop: every attempt failed. kRefill: the machine failed, or every
// attempt failed with an I/O error as `cause` did. `refused` becomes true if any did.
RowRepair Filler::stand_in(Slot& slot, const BatchOrder& order, int64_t row, const Status& cause,
                           WorkerScratch& scratch, bool* refused) const {
  const uint64_t key = random_key(setup_.seed, static_cast<uint64_t>(slot.epoch), Domain::kReplacement);
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
    int64_t record = 0;
    if (mix != nullptr) {
      record = mix->start(part) +
               static_cast<int64_t>(random_below(bits, static_cast<uint64_t>(mix->samples(part))));
    } else {
      const auto other = static_cast<int64_t>(random_below(bits, static_cast<uint64_t>(group.slots)));
      order.order->samples(slot.epoch, order.epoch_table(), group.first_slot + other, 1, &record);
    }
    Status failed = read_row(slot, row, record, scratch);
    if (failed.code() == Code::kIo) {
      *refused = true;
      failed = read_row(slot, row, record, scratch);
    }
    if (failed.is_ok()) return {.action = Action::kReplace, .record = record};
    if (ends_batch(failed)) return {Action::kRefill, record, std::move(failed)};
    all_refused = all_refused && failed.code() == Code::kIo;
  }
  if (all_refused) return {Action::kRefill, bad_record, cause};
  return {.action = Action::kDrop};
}

}  // namespace dataline
