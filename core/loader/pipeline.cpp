// SPDX-License-Identifier: Apache-2.0
#include "core/loader/pipeline.h"

#include <algorithm>

#include "core/base/checked.h"
#include "core/base/thread.h"

namespace dataline {
namespace {

// A worker's scratch for one run stays below this; records that need more are read in shorter runs.
constexpr int64_t kLeastRunRecords = 64;
constexpr int64_t kRunScratchBytes = int64_t{8} << 20;

Field column_field(const Column& column) {
  Field field;
  field.dtype = DType::kU8;
  field.shape = {column.row_bytes};
  return field;
}

Storage storage_for(const Field& output, int64_t max_bytes_per_sample) {
  Storage storage;
  storage.kind = output.kind;
  storage.item_bytes = output.item_bytes();
  if (output.kind == FieldKind::kDense) {
    storage.row_bytes = output.bytes();
  } else {
    // Whole items, and no more than the largest sample when the source knows it.
    int64_t share =
        output.max_bytes >= 0 ? std::min(output.max_bytes, max_bytes_per_sample) : max_bytes_per_sample;
    storage.row_bytes = storage.item_bytes > 0 ? share / storage.item_bytes * storage.item_bytes : 0;
  }
  return storage;
}

// Fields that look into one column without a transform share its storage.
class Builder {
 public:
  Builder(Pipeline& pipeline, const LoaderConfig& config) : pipeline_(pipeline), config_(config) {}

  Status add_fields() {
    const Schema& schema = pipeline_.source->schema();
    shared_storage_.assign(schema.columns.size(), -1);
    const size_t field_count = schema.fields.size();
    for (size_t f = 0; f < field_count; ++f) {
      const Program& program = *pipeline_.programs[f];
      const FieldPlace& place = schema.places[f];
      if (place.shared && program.identity()) {
        DL_RETURN_IF_ERROR(add_shared(schema, f));
      } else {
        add_own(schema, f);
      }
    }
    return Status::ok();
  }

  std::vector<Storage> storages;

 private:
  void add_own(const Schema& schema, size_t f) {
    const Program& program = *pipeline_.programs[f];
    const FieldPlace& place = schema.places[f];
    Storage storage = storage_for(program.output(), config_.max_bytes_per_sample);
    const int64_t column_bytes = schema.columns[static_cast<size_t>(place.column)].row_bytes;
    const bool whole = place.offset == 0 && column_bytes == schema.fields[f].bytes();
    pipeline_.outputs.push_back(
        make_output(program.output(), static_cast<int32_t>(storages.size()), 0, storage.row_bytes, 0));
    pipeline_.passes.push_back({&program, place.column, place.offset, whole});
    storages.push_back(storage);
  }

  Status add_shared(const Schema& schema, size_t f) {
    const FieldPlace& place = schema.places[f];
    const Column& column = schema.columns[static_cast<size_t>(place.column)];
    int32_t& storage = shared_storage_[static_cast<size_t>(place.column)];
    if (storage < 0) {
      Field row = column_field(column);
      DL_ASSIGN_OR_RETURN(auto copy, compile_transforms("", std::span<const Field>(&row, 1)));
      storage = static_cast<int32_t>(storages.size());
      storages.push_back(storage_for(row, config_.max_bytes_per_sample));
      pipeline_.passes.push_back({copy[0].get(), place.column, 0, true});
      pipeline_.programs.push_back(std::move(copy[0]));
    }
    pipeline_.outputs.push_back(make_output(schema.fields[f], storage, place.offset, column.row_bytes,
                                            kViewReadOnly | kViewOverlapping));
    return Status::ok();
  }

  Pipeline& pipeline_;
  const LoaderConfig& config_;
  std::vector<int32_t> shared_storage_;
};

}  // namespace

Result<Pipeline> make_pipeline(SourceRef source, const LoaderConfig& config, int64_t max_rows) {
  Pipeline pipeline;
  pipeline.source = std::move(source);
  const Schema& schema = pipeline.source->schema();
  DL_ASSIGN_OR_RETURN(pipeline.programs, compile_transforms(config.transform, schema.fields));

  Builder builder(pipeline, config);
  DL_RETURN_IF_ERROR(builder.add_fields());
  DL_ASSIGN_OR_RETURN(pipeline.layout, plan_layout(std::move(builder.storages), max_rows));

  for (const auto& program : pipeline.programs) {
    pipeline.program_scratch_bytes = std::max(pipeline.program_scratch_bytes, program->scratch_bytes());
  }
  pipeline.record_scratch_bytes = round_up(pipeline.source->scratch_bytes(config.max_bytes_per_sample), 64);
  if (pipeline.record_scratch_bytes > 0) {
    pipeline.run_records =
        std::clamp<int64_t>(kRunScratchBytes / pipeline.record_scratch_bytes, 1, kMaxRunRecords);
  }
  // A batch is shared among those who can fill it at once. Shorter runs cost more: each begins without rows asked
  // into the cache ahead (64 rows of 784 bytes: 10 % of the copy). Except that the host's reader may be slow.
  const bool calls_host = pipeline.source->calls_host();
  const int64_t workers = std::max<int64_t>(config.num_workers, 1);
  const int64_t threads =
      calls_host || config.num_workers < 1 ? workers : std::min<int64_t>(workers + 1, available_cpus());
  const int64_t share =
      std::max<int64_t>((max_rows + threads - 1) / threads, calls_host ? 1 : kLeastRunRecords);
  pipeline.run_records = std::min(pipeline.run_records, share);
  return pipeline;
}

}  // namespace dataline
