// Where the rows of each field go: which storage of a slot (or of the device, io=device) a program writes, which storages
// fields share, and which part of the work a device does.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "core/base/checked.h"
#include "core/base/text.h"
#include "core/loader/config/delivery.h"
#include "core/loader/config/sample.h"
#include "core/loader/config/window.h"
#include "core/loader/pipeline.h"

namespace dataline {
namespace {

// Minimum staging memory of io=device: large enough that waiting for each copy does not matter.
constexpr int64_t kStagingBytes = int64_t{2} << 20;

Field bytes_field(int64_t bytes) {
  Field field;
  field.dtype = DType::kU8;
  field.shape = {bytes};
  return field;
}

// Of all slots together. A process has 128 TiB, and others want some.
constexpr int64_t kMaxRoomBytes = int64_t{1} << 42;

// What a row of images of their own sizes may take.
int64_t image_room(const Field& output, const PipelineConfig& config) {
  if (!config.sample.fits_any_image || output.shape.size() != 3) return config.sample.max_bytes_per_sample;
  int64_t pixel_bytes = dtype_bytes(output.dtype);
  for (const int64_t dim : output.shape) pixel_bytes *= dim < 0 ? 1 : dim;
  const int64_t most = kMaxRoomBytes / (config.window.prefetch_depth + config.window.max_leases);
  const int64_t pixels =
      std::min(config.sample.decode_limits.max_pixels, most / std::max<int64_t>(pixel_bytes, 1));
  return std::max(config.sample.max_bytes_per_sample, pixels * pixel_bytes);
}

Storage storage_for(const Field& output, const PipelineConfig& config) {
  const int64_t max_bytes_per_sample =
      output.varies() ? image_room(output, config) : config.sample.max_bytes_per_sample;
  Storage storage;
  storage.kind = output.kind;
  if (output.to_bucket) {
    storage.to_bucket = true;  // its dims of -1 are the bucket's
    storage.item_bytes = dtype_bytes(output.dtype);
    for (const int64_t dim : output.shape) storage.item_bytes *= dim < 0 ? 1 : dim;
    return storage;
  }
  if (output.varies()) {
    storage.varies = true;
    if (output.by_part) {
      storage.row_bytes = output.max_bytes;
      return storage;
    }
    const int64_t element = dtype_bytes(output.dtype);
    storage.row_bytes = max_bytes_per_sample / element * element;
    return storage;
  }
  storage.item_bytes = output.item_bytes();
  if (output.kind == FieldKind::kDense) {
    storage.row_bytes = output.bytes();
  } else {
    // Whole items, and no more than the largest sample if the source knows it.
    const int64_t share =
        output.max_bytes >= 0 ? std::min(output.max_bytes, max_bytes_per_sample) : max_bytes_per_sample;
    storage.row_bytes = storage.item_bytes > 0 ? share / storage.item_bytes * storage.item_bytes : 0;
  }
  return storage;
}

// A tail that gathers rows as bytes.
Tail gather_tail(int64_t row_bytes) {
  Tail tail;
  tail.from = tail.to = DType::kU8;
  tail.in_width = tail.out_width = row_bytes;
  return tail;
}

// Columns of which the chosen fields, taken one by one, are more bytes than the column itself: tokens' x and y.
std::vector<bool> overlapped_columns(const Schema& schema, std::span<const Field> stored,
                                     const std::vector<bool>& chosen) {
  std::vector<int64_t> bytes(schema.columns.size(), 0);
  std::vector<bool> overlapped;
  for (size_t f = 0; f < schema.fields.size(); ++f) {
    if (chosen[f]) bytes[static_cast<size_t>(schema.places[f].column)] += stored[f].bytes();
  }
  for (size_t c = 0; c < bytes.size(); ++c) overlapped.push_back(bytes[c] > schema.columns[c].row_bytes);
  return overlapped;
}

// Fields that read one column share its storage if nothing is done to them on the host and they are either delivered as
// views of it or overlap.
class PipelineBuilder {
 public:
  PipelineBuilder(Pipeline& pipeline, const PipelineConfig& config, const Device& device)
      : pipeline_(pipeline), config_(config), device_(device), stored_(stored_fields(*pipeline.source, 0)) {}

  Status add_groups(GroupTransforms compiled) {
    outputs_ = std::move(compiled.outputs);
    pipeline_.groups = compiled.groups.size();
    // Rows of several groups lie in one storage, so each field has its own, and the host does all the work.
    for (auto& split : compiled.groups[0].splits) {
      if (pipeline_.groups > 1) split.reset();
    }
    const std::vector<std::string> texts = compiled.groups[0].texts;
    DL_RETURN_IF_ERROR(add_fields(std::move(compiled.groups[0])));
    for (size_t g = 1; g < compiled.groups.size(); ++g) add_group(std::move(compiled.groups[g]), texts);
    return Status::ok();
  }

 private:
  Status add_fields(CompiledTransforms compiled) {
    const bool resident = config_.delivery.io == Io::kDevice;
    if (resident) DL_RETURN_IF_ERROR(check_resident(compiled.mixes));
    pipeline_.programs = std::move(compiled.programs);
    columns_.assign(schema().columns.size(), SharedColumn());
    std::vector<bool> stored;  // goes to a kernel as it is stored
    for (size_t f = 0; f < schema().fields.size(); ++f) {
      std::optional<DeviceSplit>& split = compiled.splits[f];
      const bool fewer = split && split->tail.in_bytes() <= split->tail.out_bytes();
      if (split && !(device_.info().kernels && (fewer || resident) && device_.runs(split->tail))) {
        pipeline_.wants_kernels |= fewer && !device_.info().kernels;
        split.reset();
      }
      stored.push_back(split ? split->host == nullptr : resident && pipeline_.programs[f]->identity());
    }
    overlapped_ = overlapped_columns(schema(), stored_, stored);
    for (size_t f = 0; f < schema().fields.size(); ++f) {
      Route route;
      route.stored_bytes = stored_[f].bytes();
      route.host_text = std::move(compiled.texts[f]);
      const Program& program = *pipeline_.programs[f];
      if (resident && program.output().kind == FieldKind::kRagged)
        return refuse(f, "its rows vary in length");
      if (resident && program.output().to_bucket)
        return refuse(f, "the size of its rows depends on the bucket");
      if (resident && program.output().varies())
        return refuse(f, "its images vary in size; add resize([h, w]) or center_crop(size)");
      if (compiled.splits[f]) {
        DL_RETURN_IF_ERROR(add_split(f, std::move(*compiled.splits[f]), route));
      } else if (resident) {
        DL_RETURN_IF_ERROR(add_whole(f, route));
      } else if (pipeline_.groups == 1 && schema().places[f].shared && program.identity()) {
        add_shared(f, route);
      } else {
        add_own(f, route);
      }
      pipeline_.routes.push_back(std::move(route));
    }
    return resident ? lay_out_resident() : Status::ok();
  }

  // The same storages, written by another group's programs.
  void add_group(CompiledTransforms compiled, const std::vector<std::string>& texts) {
    for (size_t f = 0; f < stored_.size(); ++f) {
      const FieldPlace& place = schema().places[f];
      pipeline_.passes.push_back({&keep(std::move(compiled.programs[f])), place.column, place.offset, false});
      if (compiled.texts[f] != texts[f]) pipeline_.routes[f].host_text = "by part";
    }
  }

  // The storage of a whole column, and the first field that uses it.
  struct SharedColumn {
    int32_t storage = -1, field = -1;
  };

  const Schema& schema() const { return pipeline_.source->schema(); }

  Status refuse(size_t f, std::string_view why) const {
    return error(Code::kUnsupported, "option io: io=device cannot hold field '", schema().fields[f].name,
                 "': ", why);
  }

  Status check_resident(const std::vector<BatchMix>& mixes) {
    if (pipeline_.groups > 1) {
      return error(Code::kUnsupported,
                   "option io: io=device cannot hold a mix whose parts have their own transforms or shapes");
    }
    if (!mixes.empty()) return refuse(mixes[0].image, "mixup and cutmix run on the host, for each batch");
    if (!device_.info().kernels)
      return error(Code::kUnsupported, "option io: io=device needs kernels: ", device_.info().why_not);
    if (pipeline_.source->facts().host_calls != HostCalls::kNone)
      return error(Code::kUnsupported,
                   "option io: io=device cannot hold the samples of a reader, which may differ ",
                   "between epochs");
    pipeline_.resident.emplace();
    return Status::ok();
  }

  // Where each storage is in the device's block.
  Status lay_out_resident() {
    Resident& resident = *pipeline_.resident;
    for (ResidentRows& rows : resident.storages) {
      rows.offset = resident.bytes;
      const std::optional<int64_t> bytes = checked_multiply(pipeline_.source->count(), rows.row_bytes);
      if (!bytes || *bytes > kResidentLimitBytes - resident.bytes)
        return error(Code::kNoMemory, "option io: the set needs more device memory than any device has");
      resident.bytes = round_up(resident.bytes + *bytes, kTensorAlignment);
      resident.row_bytes += rows.row_bytes;
    }
    for (const StoragePass& pass : resident.passes) resident.state_bytes += pass.program->state_bytes();
    resident.staging_bytes = std::max(resident.row_bytes, kStagingBytes);
    return Status::ok();
  }

  const Program& keep(std::unique_ptr<const Program> program) {
    pipeline_.programs.push_back(std::move(program));
    return *pipeline_.programs.back();
  }

  // Rows of every batch's slot. `place`: what of the record the program reads.
  int32_t add_slot_rows(const Program& program, const FieldPlace& place, bool whole_column) {
    return add_slot_rows(program, program.output(), place, whole_column);
  }
  int32_t add_slot_rows(const Program& program, const Field& output, const FieldPlace& place,
                        bool whole_column) {
    storages_.push_back(storage_for(output, config_));
    pipeline_.passes.push_back({&program, place.column, place.offset, whole_column});
    return static_cast<int32_t>(storages_.size()) - 1;
  }

  // Rows that a device reads: of the slot, or resident.
  int32_t add_rows(const Program& program, const FieldPlace& place, bool whole_column) {
    if (!pipeline_.resident) return add_slot_rows(program, place, whole_column);
    pipeline_.resident->passes.push_back({&program, place.column, place.offset, whole_column});
    pipeline_.resident->storages.push_back({.row_bytes = program.output().bytes()});
    return static_cast<int32_t>(pipeline_.resident->storages.size()) - 1;
  }

  bool is_whole_column(size_t f) const {
    const FieldPlace& place = schema().places[f];
    const int64_t column_bytes = schema().columns[static_cast<size_t>(place.column)].row_bytes;
    return place.offset == 0 && column_bytes == stored_[f].bytes();
  }

  // The whole column of field f as it is stored, once for all its fields.
  void share_column(size_t f, Route& route) {
    const FieldPlace place = {.column = schema().places[f].column};
    SharedColumn& shared = columns_[static_cast<size_t>(place.column)];
    if (shared.storage < 0) {
      const int64_t row_bytes = schema().columns[static_cast<size_t>(place.column)].row_bytes;
      shared.storage = add_rows(keep(make_copy_program(bytes_field(row_bytes))), place, true);
      shared.field = static_cast<int32_t>(f);
    } else {
      route.carrier = shared.field;
    }
    route.storage = shared.storage;
  }

  void add_own(size_t f, Route& route) {
    const Program& program = *pipeline_.programs[f];
    route.storage = add_slot_rows(program, outputs_[f], schema().places[f], is_whole_column(f));
    const Storage& storage = storages_.back();
    pipeline_.outputs.push_back(
        {.field = outputs_[f],
         .storage = route.storage,
         .row_stride_bytes = storage.varies || storage.to_bucket ? 0 : storage.row_bytes});
  }

  void add_shared(size_t f, Route& route) {
    share_column(f, route);
    const int64_t row_bytes = storages_[static_cast<size_t>(route.storage)].row_bytes;
    pipeline_.outputs.push_back({.field = stored_[f],
                                 .storage = route.storage,
                                 .storage_offset = schema().places[f].offset,
                                 .row_stride_bytes = row_bytes,
                                 .flags = kViewReadOnly | kViewOverlapping});
  }

  // The bytes of field f as they are stored, for a tail.
  void add_stored(size_t f, Route& route, DeviceTail& tail) {
    const FieldPlace& place = schema().places[f];
    const bool shared = place.shared && !pipeline_.resident;
    if (shared || overlapped_[static_cast<size_t>(place.column)]) {
      share_column(f, route);
      tail.storage_offset = place.offset;
    } else {
      route.storage = add_rows(keep(make_copy_program(stored_[f])), place, is_whole_column(f));
    }
  }

  // The host's part of a field, its geometry, and the region in which the device delivers it.
  Status add_split(size_t f, DeviceSplit split, Route& route) {
    const FieldPlace& place = schema().places[f];
    if (pipeline_.resident && split.host != nullptr && split.host->draws())
      return refuse(f, concat("'", split.host_text, "' is random, and the part on the host runs only once"));
    DeviceTail tail;
    if (split.host != nullptr)
      route.storage = add_rows(keep(std::move(split.host)), place, is_whole_column(f));
    else
      add_stored(f, route, tail);
    if (split.geometry != nullptr) {
      const FieldPlace no_record;
      const bool resident = pipeline_.resident.has_value();
      tail.geometry_storage = add_slot_rows(keep(std::move(split.geometry)), resident ? no_record : place,
                                            !resident && is_whole_column(f));
    }
    tail.tail = std::move(split.tail);
    route.host_text = std::move(split.host_text);
    route.device_text = std::move(split.device_text);
    return add_tail(f, std::move(tail), route);
  }

  // io=device, and the host does all the work: the device gathers the finished rows.
  Status add_whole(size_t f, Route& route) {
    const Program& program = *pipeline_.programs[f];
    if (program.draws())
      return refuse(f, concat("'", route.host_text, "' is random, and this device cannot run it"));
    DeviceTail tail;
    tail.tail = gather_tail(program.output().bytes());
    if (program.identity())
      add_stored(f, route, tail);
    else
      route.storage = add_rows(program, schema().places[f], is_whole_column(f));
    return add_tail(f, std::move(tail), route);
  }

  Status add_tail(size_t f, DeviceTail tail, Route& route) {
    const Field& output = pipeline_.programs[f]->output();
    if (!device_.runs(tail.tail))
      return refuse(f, concat("no kernel supports rows of ", output.bytes(), " bytes"));
    tail.storage = route.storage;
    tail.region = static_cast<int32_t>(regions_.size());
    regions_.push_back({.row_bytes = tail.tail.out_bytes()});
    route.tail = static_cast<int32_t>(pipeline_.tails.size());
    pipeline_.outputs.push_back(
        {.field = output, .storage = -1, .region = tail.region, .row_stride_bytes = output.bytes()});
    pipeline_.tails.push_back(std::move(tail));
    return Status::ok();
  }

  Pipeline& pipeline_;
  const PipelineConfig& config_;
  const Device& device_;
  const std::span<const Field> stored_;
  std::vector<Field> outputs_;
  std::vector<Storage>& storages_ = pipeline_.layout.storages;
  std::vector<Region>& regions_ = pipeline_.layout.regions;
  std::vector<SharedColumn> columns_;
  std::vector<bool> overlapped_;  // by column
};

}  // namespace

Status place_fields(Pipeline& pipeline, GroupTransforms compiled, const PipelineConfig& config,
                    const Device& device) {
  return PipelineBuilder(pipeline, config, device).add_groups(std::move(compiled));
}

}  // namespace dataline
