// io=device: the set lies on the device as long as the loader lives. What the host does to a sample is done once, at
// create; a batch then sends its sample indices, and where images are cropped or flipped at random their geometry, and
// kernels gather, convert and move the rows.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "core/base/thread.h"
#include "core/loader/filler.h"
#include "core/source/composed/mix.h"

namespace dataline {
namespace {

// Samples [first, first + count), a run at most; `targets`: where each resident storage's rows go, packed. `states`: one a
// resident pass.
Status read_samples(const Pipeline& pipeline, int64_t first, int64_t count, const PassStates& states,
                    std::span<std::byte* const> targets, WorkerScratch& scratch) {
  std::iota(scratch.indices.begin(), scratch.indices.begin() + count, first);
  Run& run = scratch.run;
  run.count = count;
  run.indices = scratch.indices.data();
  run.contiguous = true;
  run.opened_ns = monotonic_ns();
  run.max_bytes_per_sample = pipeline.max_bytes_per_sample;
  run.cold = true;
  const ReturnLoans once_read(scratch.loans);
  scratch.locate(*pipeline.source);
  FieldRows rows;
  for (size_t s = 0; s < targets.size(); ++s) {
    rows.target = targets[s];
    rows.target_stride = pipeline.resident->storages[s].row_bytes;
    rows.state = states[s].get();
    scratch.run_pass(*pipeline.source, pipeline.resident->passes[s], rows);
  }
  if (scratch.errors.empty()) pipeline.source->confirm(run, {run.opened_ns, monotonic_ns()});
  if (scratch.errors.empty()) return Status::ok();
  RowError& failed = scratch.errors.all().front();
  const int64_t sample = first + failed.row;
  return with_record(
      std::move(failed.status).in(concat("io=device: ", sample_text(*pipeline.source, sample))),
      *pipeline.source, sample);
}

}  // namespace

Status upload_resident(const Pipeline& pipeline, const CancelToken* token, std::span<std::byte> staging,
                       WorkerScratch& scratch, HostMemory& memory, DeviceBlock& block) {
  const Resident& resident = *pipeline.resident;
  const int64_t total = pipeline.source->count();
  const int64_t piece_rows =
      std::max<int64_t>(static_cast<int64_t>(staging.size()) / std::max<int64_t>(resident.row_bytes, 1), 1);
  DL_ASSIGN_OR_RETURN(const PassStates states, make_states(resident.passes, memory));
  std::vector<std::byte*> targets(resident.storages.size());
  for (int64_t first = 0; first < total; first += piece_rows) {
    if (token != nullptr && token->cancelled())
      return error(Code::kCancelled, "cancelled while the set was sent to the device");
    const int64_t count = std::min(piece_rows, total - first);
    for (int64_t done = 0; done < count;) {
      const int64_t run = std::min(pipeline.run_records, count - done);
      std::byte* begin = staging.data();
      for (size_t s = 0; s < targets.size(); ++s) {
        targets[s] = begin + done * resident.storages[s].row_bytes;
        begin += count * resident.storages[s].row_bytes;
      }
      DL_RETURN_IF_ERROR(read_samples(pipeline, first + done, run, states, targets, scratch));
      done += run;
    }
    const std::byte* begin = staging.data();
    for (const ResidentRows& rows : resident.storages) {
      DL_RETURN_IF_ERROR(block.upload(rows.offset + first * rows.row_bytes, begin, count * rows.row_bytes));
      begin += count * rows.row_bytes;
    }
  }
  return Status::ok();
}

}  // namespace dataline
