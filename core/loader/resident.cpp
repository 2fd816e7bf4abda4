// SPDX-License-Identifier: Apache-2.0
#include "core/loader/resident.h"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "core/base/thread.h"

namespace dataline {

// Reads samples with the resident storages' programs.
class ResidentReader {
 public:
  // states: one a resident pass.
  ResidentReader(const Pipeline& pipeline, const LoaderConfig& config, WorkerScratch& scratch,
                 PassStates states)
      : pipeline_(pipeline),
        config_(config),
        scratch_(scratch),
        states_(std::move(states)),
        indices_(kMaxRunRecords) {}

  // Samples [first, first + count), a run at most; `targets`: where each storage's rows go, packed.
  Status read(int64_t first, int64_t count, std::span<std::byte* const> targets);

 private:
  const Pipeline& pipeline_;
  const LoaderConfig& config_;
  WorkerScratch& scratch_;
  PassStates states_;
  std::vector<int64_t> indices_;
};

Status ResidentReader::read(int64_t first, int64_t count, std::span<std::byte* const> targets) {
  std::iota(indices_.begin(), indices_.begin() + count, first);
  Run& run = scratch_.run_;
  run.count = count;
  run.indices = indices_.data();
  run.contiguous = true;
  run.opened_ns = monotonic_ns();
  run.max_bytes_per_sample = config_.max_bytes_per_sample;
  run.cold = true;
  scratch_.errors_.clear();
  pipeline_.source->locate(run);
  if (!scratch_.errors_.empty()) shorten_places(*pipeline_.source, run);

  FieldRows rows;
  rows.count = count;
  rows.scratch = scratch_.program_scratch_;
  rows.errors = &scratch_.errors_;
  for (size_t s = 0; s < targets.size(); ++s) {
    const StoragePass& pass = pipeline_.resident->passes[s];
    const Run::ColumnRows& column = run.columns[pass.column];
    rows.source = column.data;
    rows.source_bytes = column.bytes;
    rows.source_offset = pass.source_offset;
    rows.contiguous = pass.whole_column && column.contiguous;
    rows.target = targets[s];
    rows.target_stride = pipeline_.resident->storages[s].row_bytes;
    rows.state = states_[s].get();
    const size_t known = scratch_.errors_.all().size();
    pass.program->run(rows);
    if (scratch_.errors_.all().size() > known)
      name_places(*pipeline_.source, run, static_cast<size_t>(pass.column), known);
  }
  if (scratch_.errors_.empty()) {
    run.count = count;
    pipeline_.source->confirm(run, {run.opened_ns, monotonic_ns()});
  }
  if (scratch_.errors_.empty()) return Status::ok();
  RowError& failed = scratch_.errors_.all().front();
  const int64_t sample = first + failed.row;
  return std::move(failed.status).in(concat("io=device: sample ", sample)).with_sample(sample);
}

Status upload_resident(const Pipeline& pipeline, const LoaderConfig& config, const CancelToken* token,
                       std::span<std::byte> staging, WorkerScratch& scratch, HostMemory& memory,
                       DeviceBlock& block) {
  const Resident& resident = *pipeline.resident;
  const int64_t total = pipeline.source->count();
  const int64_t piece_rows =
      std::max<int64_t>(static_cast<int64_t>(staging.size()) / std::max<int64_t>(resident.row_bytes, 1), 1);
  DL_ASSIGN_OR_RETURN(PassStates states, make_states(resident.passes, memory));
  ResidentReader reader(pipeline, config, scratch, std::move(states));
  std::vector<std::byte*> targets(resident.storages.size());
  for (int64_t first = 0; first < total; first += piece_rows) {
    if (token != nullptr && token->cancelled())
      return error(Code::kCancelled, "cancelled while the set was sent");
    const int64_t count = std::min(piece_rows, total - first);
    for (int64_t done = 0; done < count;) {
      const int64_t run = std::min(pipeline.run_records, count - done);
      std::byte* begin = staging.data();
      for (size_t s = 0; s < targets.size(); ++s) {
        targets[s] = begin + done * resident.storages[s].row_bytes;
        begin += count * resident.storages[s].row_bytes;
      }
      DL_RETURN_IF_ERROR(reader.read(first + done, run, targets));
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
