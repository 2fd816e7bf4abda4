// SPDX-License-Identifier: Apache-2.0
#include "core/loader/pipeline.h"

#include <algorithm>
#include <optional>
#include <span>
#include <utility>

#include "core/base/checked.h"
#include "core/base/thread.h"
#include "core/loader/one_record.h"
#include "core/loader/resident.h"

namespace dataline {
namespace {

// A worker's scratch for one run stays below this; records that need more are read in shorter runs.
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
  if (output.varies()) {
    storage.varies = true;
    const int64_t element = dtype_bytes(output.dtype);
    storage.row_bytes = max_bytes_per_sample / element * element;
    return storage;
  }
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

using Splits = std::vector<std::optional<DeviceSplit>>;

// Where the device takes a part of the work: nothing for the other fields.
Result<Splits> find_splits(std::string_view text, std::span<const Field> fields,
                           const TransformSettings& settings, const Device& device, bool resident) {
  if (!device.info().kernels) return Splits(fields.size());
  DL_ASSIGN_OR_RETURN(Splits splits, split_transforms(text, fields, settings));
  for (std::optional<DeviceSplit>& split : splits) {
    const bool fewer = split && split->tail.in_bytes() <= split->tail.out_bytes();
    if (split && !((fewer || resident) && device.runs(split->tail))) split.reset();
  }
  return splits;
}

TransformSettings transform_settings(const Source& source, const LoaderConfig& config) {
  TransformSettings settings;
  settings.limits = config.decode_limits;
  settings.first_header = [&source, &config](size_t field) {
    Result<ImageFacts> first = image_facts_of(source, field, 0, config.max_bytes_per_sample);
    if (!first.is_ok()) return Result<ImageHeader>(first.take_status());
    return Result<ImageHeader>(first.value().header);
  };
  return settings;
}

// Fields that look into one column share its storage, as long as nothing is done to them on the host, and either they
// are delivered as views of it or they overlap.
class Builder {
 public:
  Builder(Pipeline& pipeline, const LoaderConfig& config) : pipeline_(pipeline), config_(config) {}

  Status add_fields(Splits splits, std::span<const std::string> texts) {
    const Schema& schema = pipeline_.source->schema();
    shared_.assign(schema.columns.size(), Shared());
    std::vector<bool> stored;  // crosses as it is stored, to a kernel
    for (const auto& split : splits) stored.push_back(split && split->host == nullptr);
    overlapped_ = overlapped_columns(schema, stored);
    for (size_t f = 0; f < schema.fields.size(); ++f) {
      Route route;
      route.stored_bytes = schema.fields[f].bytes();
      if (splits[f]) {
        DL_RETURN_IF_ERROR(add_split(schema, f, std::move(*splits[f]), route));
      } else if (schema.places[f].shared && pipeline_.programs[f]->identity()) {
        DL_RETURN_IF_ERROR(add_shared(schema, f, route));
      } else {
        add_own(schema, f, route);
        route.host_text = texts[f];
      }
      pipeline_.routes.push_back(std::move(route));
    }
    return Status::ok();
  }

  std::vector<Storage> storages;
  std::vector<Region> regions;

 private:
  // The storage of a column, and the first field that lies in it.
  struct Shared {
    int32_t storage = -1, field = -1;
  };

  int32_t add_storage(const Program& program, const FieldPlace& place, bool whole) {
    storages.push_back(storage_for(program.output(), config_.max_bytes_per_sample));
    pipeline_.passes.push_back({&program, place.column, place.offset, whole});
    return static_cast<int32_t>(storages.size()) - 1;
  }
  const Program& keep(std::unique_ptr<const Program> program) {
    pipeline_.programs.push_back(std::move(program));
    return *pipeline_.programs.back();
  }
  bool is_whole_column(const Schema& schema, size_t f) const {
    const FieldPlace& place = schema.places[f];
    const int64_t column_bytes = schema.columns[static_cast<size_t>(place.column)].row_bytes;
    return place.offset == 0 && column_bytes == schema.fields[f].bytes();
  }

  void add_own(const Schema& schema, size_t f, Route& route) {
    const Program& program = *pipeline_.programs[f];
    route.storage = add_storage(program, schema.places[f], is_whole_column(schema, f));
    const Storage& storage = storages.back();
    pipeline_.outputs.push_back(
        make_output(program.output(), route.storage, 0, storage.varies ? 0 : storage.row_bytes, 0));
  }

  // The whole column of field f as it is stored, once for all its fields.
  Status share_column(const Schema& schema, size_t f, Route& route) {
    const FieldPlace& place = schema.places[f];
    Shared& shared = shared_[static_cast<size_t>(place.column)];
    if (shared.storage < 0) {
      const Field row = column_field(schema.columns[static_cast<size_t>(place.column)]);
      DL_ASSIGN_OR_RETURN(auto copy, compile_transforms("", std::span<const Field>(&row, 1)));
      shared.storage = add_storage(keep(std::move(copy[0])), {.column = place.column}, true);
      shared.field = static_cast<int32_t>(f);
    } else {
      route.carrier = shared.field;
    }
    route.storage = shared.storage;
    return Status::ok();
  }

  Status add_shared(const Schema& schema, size_t f, Route& route) {
    DL_RETURN_IF_ERROR(share_column(schema, f, route));
    const int64_t row_bytes = storages[static_cast<size_t>(route.storage)].row_bytes;
    pipeline_.outputs.push_back(make_output(schema.fields[f], route.storage, schema.places[f].offset,
                                            row_bytes, kViewReadOnly | kViewOverlapping));
    return Status::ok();
  }

  // What the host makes of a field, its geometry, and the region in which the device delivers it.
  Status add_split(const Schema& schema, size_t f, DeviceSplit split, Route& route) {
    const FieldPlace& place = schema.places[f];
    const bool whole = is_whole_column(schema, f);
    DeviceTail tail;
    if (split.host != nullptr) {
      route.storage = add_storage(keep(std::move(split.host)), place, whole);
    } else if (place.shared || overlapped_[static_cast<size_t>(place.column)]) {
      DL_RETURN_IF_ERROR(share_column(schema, f, route));
      tail.storage_offset = place.offset;
    } else {
      DL_ASSIGN_OR_RETURN(auto copy, compile_transforms("", std::span<const Field>(&schema.fields[f], 1)));
      route.storage = add_storage(keep(std::move(copy[0])), place, whole);
    }
    tail.storage = route.storage;
    if (split.geometry != nullptr) {
      tail.geometry_storage = add_storage(keep(std::move(split.geometry)), place, whole);
    }
    tail.region = static_cast<int32_t>(regions.size());
    regions.push_back({.row_bytes = split.tail.out_bytes()});
    tail.tail = std::move(split.tail);
    route.host_text = std::move(split.host_text);
    route.device_text = std::move(split.device_text);
    route.tail = static_cast<int32_t>(pipeline_.tails.size());
    pipeline_.tails.push_back(std::move(tail));
    pipeline_.outputs.push_back(
        make_device_output(pipeline_.programs[f]->output(), pipeline_.tails.back().region));
    return Status::ok();
  }

  Pipeline& pipeline_;
  const LoaderConfig& config_;
  std::vector<Shared> shared_;    // by column
  std::vector<bool> overlapped_;  // by column
};

// How many records one claim is for.
int64_t records_of_run(const Pipeline& pipeline, const LoaderConfig& config, int64_t max_rows) {
  // One by one: a slow row then holds up no other, and a claim costs nothing beside a row.
  if (pipeline.heavy) return 1;
  const int64_t workers = config.num_workers;
  if (workers == 0) return kMaxRunRecords;
  // The host's reader may be slow: its rows are shared among the workers.
  if (pipeline.calls_host) return std::max<int64_t>((max_rows + workers - 1) / workers, 1);
  const int64_t threads = std::min<int64_t>(workers + 1, available_cpus());
  const int64_t row_bytes = pipeline.layout.slot_bytes / std::max<int64_t>(max_rows, 1);
  return copied_records_of_run(max_rows, row_bytes, threads, config.prefetch_depth);
}

}  // namespace

int64_t copied_records_of_run(int64_t max_rows, int64_t row_bytes, int64_t threads, int64_t depth) {
  constexpr int64_t kLeast = 64, kRunBytes = 256 << 10;
  const int64_t runs = (threads + depth) / depth;  // of a batch: the window has more than there are threads
  const int64_t records = std::min((max_rows + runs - 1) / runs, kRunBytes / std::max<int64_t>(row_bytes, 1));
  return std::max(records, kLeast);
}

namespace {

Result<MixedField> mixed_field(const Pipeline& pipeline, size_t field) {
  const OutputField& output = pipeline.outputs[field];
  if ((output.flags & kViewOverlapping) != 0) {
    return error(Code::kUnsupported, "field '", output.field.name,
                 "': it lies in the bytes of another field, and cannot be mixed");
  }
  return MixedField{output.storage, output.storage_offset, output.field.bytes(), output.field.dtype};
}

// Where the fields of mixup and cutmix lie. They are the host's, whatever a device could do.
Status add_mixes(Pipeline& pipeline, std::span<const BatchMix> mixes) {
  for (const BatchMix& mix : mixes) {
    MixStep step;
    step.mix = mix;
    DL_ASSIGN_OR_RETURN(step.image, mixed_field(pipeline, mix.image));
    DL_ASSIGN_OR_RETURN(step.labels, mixed_field(pipeline, mix.labels));
    pipeline.program_scratch_bytes =
        std::max({pipeline.program_scratch_bytes, step.image.row_bytes, step.labels.row_bytes});
    pipeline.mixes.push_back(step);
  }
  return Status::ok();
}

}  // namespace

std::vector<bool> overlapped_columns(const Schema& schema, const std::vector<bool>& chosen) {
  std::vector<int64_t> bytes(schema.columns.size(), 0);
  std::vector<bool> overlapped;
  for (size_t f = 0; f < schema.fields.size(); ++f) {
    if (chosen[f]) bytes[static_cast<size_t>(schema.places[f].column)] += schema.fields[f].bytes();
  }
  for (size_t c = 0; c < bytes.size(); ++c) overlapped.push_back(bytes[c] > schema.columns[c].row_bytes);
  return overlapped;
}

Result<Pipeline> make_pipeline(SourceRef source, const LoaderConfig& config, int64_t max_rows,
                               const Device& device) {
  Pipeline pipeline;
  pipeline.source = std::move(source);
  const Schema& schema = pipeline.source->schema();
  const TransformSettings settings = transform_settings(*pipeline.source, config);
  DL_ASSIGN_OR_RETURN(pipeline.programs, compile_transforms(config.transform, schema.fields, settings));
  DL_ASSIGN_OR_RETURN(Splits splits,
                      find_splits(config.transform, schema.fields, settings, device, config.resident));
  DL_ASSIGN_OR_RETURN(const std::vector<BatchMix> mixes,
                      batch_mixes(config.transform, schema.fields, settings));
  for (const BatchMix& mix : mixes) {
    splits[mix.image].reset();
    splits[mix.labels].reset();
  }
  DL_ASSIGN_OR_RETURN(const std::vector<std::string> texts, operator_texts(config.transform, schema.fields));

  Builder builder(pipeline, config);
  if (config.resident && !mixes.empty())
    return error(Code::kUnsupported, "option io: io=device cannot hold field '",
                 schema.fields[mixes[0].image].name,
                 "': mixup and cutmix are the host's work, on each batch");
  if (config.resident) {
    DL_RETURN_IF_ERROR(
        plan_resident(pipeline, device, std::move(splits), texts, builder.storages, builder.regions));
  } else {
    DL_RETURN_IF_ERROR(builder.add_fields(std::move(splits), texts));
  }
  DL_ASSIGN_OR_RETURN(pipeline.layout,
                      plan_layout(std::move(builder.storages), std::move(builder.regions), max_rows));

  for (const auto& program : pipeline.programs) {
    pipeline.program_scratch_bytes = std::max(pipeline.program_scratch_bytes, program->scratch_bytes());
  }
  DL_RETURN_IF_ERROR(add_mixes(pipeline, mixes));
  for (const StoragePass& pass : pipeline.passes) {
    pipeline.state_bytes += pass.program->state_bytes();
    pipeline.heavy = pipeline.heavy || pass.program->heavy();
  }
  pipeline.record_scratch_bytes = round_up(pipeline.source->scratch_bytes(config.max_bytes_per_sample), 64);
  if (pipeline.record_scratch_bytes > 0) {
    pipeline.run_records =
        std::clamp<int64_t>(kRunScratchBytes / pipeline.record_scratch_bytes, 1, kMaxRunRecords);
  }
  pipeline.calls_host = pipeline.source->calls_host();
  pipeline.run_records = std::min(pipeline.run_records, records_of_run(pipeline, config, max_rows));
  return pipeline;
}

Result<PassStates> make_states(const std::vector<StoragePass>& passes, HostMemory& memory) {
  PassStates states;
  for (const StoragePass& pass : passes) {
    DL_ASSIGN_OR_RETURN(std::unique_ptr<ProgramState> state, pass.program->make_state(memory));
    states.push_back(std::move(state));
  }
  return states;
}

}  // namespace dataline
