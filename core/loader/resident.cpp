// SPDX-License-Identifier: Apache-2.0
#include "core/loader/resident.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "core/base/checked.h"
#include "core/base/text.h"
#include "core/base/thread.h"

namespace dataline {
namespace {

// Long enough that the wait for each copy does not count.
constexpr int64_t kStagingBytes = int64_t{2} << 20;

// Any rows as bytes that are gathered.
Tail gather_tail(int64_t row_bytes) {
  Tail tail;
  tail.from = tail.to = DType::kU8;
  tail.in_width = tail.out_width = row_bytes;
  return tail;
}

Status refusal(std::string_view field, std::string_view why) {
  return error(Code::kUnsupported, "option io: io=device cannot hold field '", field, "': ", why);
}

class Builder {
 public:
  Builder(Pipeline& pipeline, const Device& device, std::vector<Storage>& storages,
          std::vector<Region>& regions)
      : pipeline_(pipeline), device_(device), storages_(storages), regions_(regions) {
    columns_.assign(pipeline.source->schema().columns.size(), -1);
  }

  Status add_fields(std::vector<std::optional<DeviceSplit>> splits, std::span<const std::string> texts) {
    std::vector<bool> stored;
    for (size_t f = 0; f < splits.size(); ++f)
      stored.push_back(splits[f] ? splits[f]->host == nullptr : pipeline_.programs[f]->identity());
    overlapped_ = overlapped_columns(pipeline_.source->schema(), stored);
    for (size_t f = 0; f < splits.size(); ++f) DL_RETURN_IF_ERROR(add(f, std::move(splits[f]), texts[f]));
    return Status::ok();
  }

 private:
  Status add(size_t f, std::optional<DeviceSplit> split, const std::string& text) {
    const Schema& schema = pipeline_.source->schema();
    const Program& whole = *pipeline_.programs[f];
    const std::string& name = schema.fields[f].name;
    if (whole.output().kind == FieldKind::kRagged) return refusal(name, "its rows have lengths of their own");
    if (whole.output().varies())
      return refusal(name, "its images have sizes of their own; add resize([h, w]) or center_crop(size)");
    Route route;
    route.stored_bytes = schema.fields[f].bytes();
    DeviceTail tail;
    if (split) {
      DL_RETURN_IF_ERROR(add_split(f, *split, tail));
      route.host_text = std::move(split->host_text);
      route.device_text = std::move(split->device_text);
    } else {
      if (whole.draws())
        return refusal(name, concat("'", text, "' draws at random, and this device cannot do that part"));
      route.host_text = text;
      add_whole(f, tail);
    }
    if (!device_.runs(tail.tail))
      return refusal(name, concat("no kernel takes rows of ", whole.output().bytes(), " bytes"));
    tail.region = static_cast<int32_t>(regions_.size());
    regions_.push_back({.row_bytes = tail.tail.out_bytes()});
    pipeline_.outputs.push_back(make_device_output(whole.output(), tail.region));
    route.tail = static_cast<int32_t>(pipeline_.tails.size());
    pipeline_.tails.push_back(std::move(tail));
    pipeline_.routes.push_back(std::move(route));
    return Status::ok();
  }

  Status add_split(size_t f, DeviceSplit& split, DeviceTail& tail) {
    const FieldPlace& place = pipeline_.source->schema().places[f];
    if (split.host != nullptr && split.host->draws())
      return refusal(pipeline_.source->schema().fields[f].name,
                     concat("'", split.host_text, "' draws at random, and the host's part is done once"));
    tail.tail = std::move(split.tail);
    if (split.host != nullptr)
      tail.storage = add_storage(keep(std::move(split.host)), place.offset, f);
    else
      add_stored(f, tail);
    if (split.geometry != nullptr) {
      const Program& geometry = keep(std::move(split.geometry));
      tail.geometry_storage = static_cast<int32_t>(storages_.size());
      storages_.push_back({.row_bytes = geometry.output().bytes()});
      pipeline_.passes.push_back({.program = &geometry});
    }
    return Status::ok();
  }

  void add_whole(size_t f, DeviceTail& tail) {
    const Program& program = *pipeline_.programs[f];
    tail.tail = gather_tail(program.output().bytes());
    if (program.identity())
      add_stored(f, tail);
    else
      tail.storage = add_storage(program, pipeline_.source->schema().places[f].offset, f);
  }

  // The bytes of field f as they are stored; a column in which fields overlap is held once.
  void add_stored(size_t f, DeviceTail& tail) {
    const Schema& schema = pipeline_.source->schema();
    const FieldPlace& place = schema.places[f];
    if (!overlapped_[static_cast<size_t>(place.column)]) {
      tail.storage = add_storage(keep(copy_of(schema.fields[f].bytes())), place.offset, f);
      return;
    }
    int32_t& column = columns_[static_cast<size_t>(place.column)];
    if (column < 0) {
      const int64_t row_bytes = schema.columns[static_cast<size_t>(place.column)].row_bytes;
      column = add_storage(keep(copy_of(row_bytes)), 0, f);
    }
    tail.storage = column;
    tail.storage_offset = place.offset;
  }

  static std::unique_ptr<const Program> copy_of(int64_t row_bytes) {
    Field row;
    row.dtype = DType::kU8;
    row.shape = {row_bytes};
    return std::move(compile_transforms("", std::span<const Field>(&row, 1)).value()[0]);
  }

  int32_t add_storage(const Program& program, int64_t offset, size_t f) {
    const Schema& schema = pipeline_.source->schema();
    const int32_t column = schema.places[f].column;
    const int64_t row_bytes = program.output().bytes();
    const bool whole = offset == 0 && program.identity() &&
                       schema.columns[static_cast<size_t>(column)].row_bytes == row_bytes;
    Resident& resident = *pipeline_.resident;
    resident.passes.push_back({&program, column, offset, whole});
    resident.storages.push_back({.row_bytes = row_bytes});
    return static_cast<int32_t>(resident.storages.size()) - 1;
  }

  const Program& keep(std::unique_ptr<const Program> program) {
    pipeline_.programs.push_back(std::move(program));
    return *pipeline_.programs.back();
  }

  Pipeline& pipeline_;
  const Device& device_;
  std::vector<Storage>& storages_;
  std::vector<Region>& regions_;
  std::vector<int32_t> columns_;  // the storage of each, once there is one
  std::vector<bool> overlapped_;  // by column
};

}  // namespace

Status plan_resident(Pipeline& pipeline, const Device& device, std::vector<std::optional<DeviceSplit>> splits,
                     std::span<const std::string> texts, std::vector<Storage>& storages,
                     std::vector<Region>& regions) {
  if (!device.info().kernels)
    return error(Code::kUnsupported, "option io: io=device needs kernels: ", device.info().why_not);
  if (pipeline.source->calls_host())
    return error(Code::kUnsupported,
                 "option io: io=device cannot hold what a reader gives, which may differ ",
                 "from epoch to epoch");
  pipeline.resident.emplace();
  Builder builder(pipeline, device, storages, regions);
  DL_RETURN_IF_ERROR(builder.add_fields(std::move(splits), texts));

  Resident& resident = *pipeline.resident;
  int64_t rows_bytes = 0;
  for (ResidentRows& rows : resident.storages) {
    rows.offset = resident.bytes;
    const std::optional<int64_t> bytes = checked_multiply(pipeline.source->count(), rows.row_bytes);
    if (!bytes || *bytes > kResidentLimitBytes - resident.bytes)
      return error(Code::kNoMemory, "option io: the set needs more device memory than any device has");
    resident.bytes = round_up(resident.bytes + *bytes, kTensorAlignment);
    rows_bytes += rows.row_bytes;
  }
  for (const StoragePass& pass : resident.passes) resident.state_bytes += pass.program->state_bytes();
  resident.row_bytes = rows_bytes;
  resident.staging_bytes = std::max(rows_bytes, kStagingBytes);
  return Status::ok();
}

ResidentReader::ResidentReader(const Pipeline& pipeline, const LoaderConfig& config, WorkerScratch& scratch,
                               PassStates states)
    : pipeline_(pipeline),
      config_(config),
      scratch_(scratch),
      states_(std::move(states)),
      indices_(kMaxRunRecords) {}

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
