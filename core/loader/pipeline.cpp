// SPDX-License-Identifier: Apache-2.0
#include "core/loader/pipeline.h"

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "core/base/checked.h"
#include "core/loader/config/buckets.h"
#include "core/loader/config/sample.h"
#include "core/loader/config/window.h"
#include "core/loader/config/workers.h"
#include "core/loader/dataset.h"
#include "core/loader/extensions.h"
#include "core/loader/mixed_fields.h"
#include "core/memory/machine_limits.h"
#include "core/order/steps.h"

namespace dataline {
namespace {

// Limit of a worker's scratch for one run; records that need more are read in shorter runs.
constexpr int64_t kRunScratchBytes = int64_t{8} << 20;
constexpr int64_t kAloneRunBytes = int64_t{1} << 20;  // with num_workers=0

// How many records one claim is for.
int64_t records_of_run(const Pipeline& pipeline, const PipelineConfig& config, int64_t max_rows) {
  // One by one: a slow row then delays no other, and a claim costs little compared to a row.
  if (pipeline.heavy) return 1;
  const int64_t workers = config.workers.num_workers;
  const int64_t row_bytes = pipeline.layout.slot_bytes / std::max<int64_t>(max_rows, 1);
  // Loader::work() looks at its budget after each run: about 100 us.
  if (workers == 0 && !pipeline.calls_host)
    return std::max<int64_t>(kAloneRunBytes / std::max<int64_t>(row_bytes, 1), 1);
  if (workers == 0) return kMaxRunRecords;
  // The host's reader may be slow: its rows are shared among the workers.
  if (pipeline.waits_for_host) return std::max<int64_t>((max_rows + workers - 1) / workers, 1);
  const int64_t threads = std::min<int64_t>(workers + 1, available_cpus());
  return copied_records_of_run(max_rows, row_bytes, threads, config.window.start_depth);
}

std::vector<BucketShape> bucket_shapes(const BucketConfig& config, const Steps& steps) {
  std::vector<BucketShape> shapes;
  for (size_t b = 0; b < config.edges.size(); ++b)
    shapes.push_back({.rows = steps.max_rows(static_cast<int32_t>(b)), .edge = config.edges[b]});
  for (size_t b = 0; b < config.shapes.size(); ++b) {
    shapes[b].height = config.shapes[b].height;
    shapes[b].width = config.shapes[b].width;
  }
  return shapes;
}

Result<MixedField> mixed_field(const Pipeline& pipeline, size_t field) {
  const OutputField& output = pipeline.outputs[field];
  if ((output.flags & kViewOverlapping) != 0) {
    return error(Code::kUnsupported, "field '", output.field.name,
                 "': it is a view of another field, and cannot be mixed");
  }
  if (output.field.by_part) {
    return error(Code::kUnsupported, "field '", output.field.name,
                 "': its size differs between parts of the mix, and mixup and cutmix need one size; add "
                 "transforms that make the parts equal");
  }
  return MixedField{output.storage, output.storage_offset, output.field.bytes(), output.field.dtype};
}

// Finds the storages of the fields of mixup and cutmix. They are mixed on the host even if a device is used.
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

constexpr int32_t kCpu = 1;

int64_t crossing_bytes(const Storage& storage) {
  return storage.kind == FieldKind::kRagged || storage.varies || storage.to_bucket ? -1 : storage.row_bytes;
}

}  // namespace

TransformSettings transform_settings(const Source& source, const SampleConfig& config,
                                     const BucketConfig& buckets, int64_t first_record) {
  TransformSettings settings;
  settings.limits = config.decode_limits;
  settings.max_bytes_per_sample = config.max_bytes_per_sample;
  settings.first_places = config.transform_places;
  if (!buckets.edges.empty()) settings.buckets = buckets.by;
  settings.added_fields = buckets.adds_field ? 1 : 0;
  if (config.extensions != nullptr) settings.operators = config.extensions->operators;
  settings.first_header = [&source, &config, first_record](size_t field) {
    Result<ImageFacts> first = image_facts_of(source, field, first_record, config.max_bytes_per_sample);
    if (!first.is_ok()) return Result<ImageHeader>(first.take_status());
    return Result<ImageHeader>(first.value().header);
  };
  return settings;
}

int64_t copied_records_of_run(int64_t max_rows, int64_t row_bytes, int64_t threads, int64_t depth) {
  constexpr int64_t kMinRecords = 64, kRunBytes = 256 << 10;
  const int64_t runs = (threads + depth) / depth;  // of a batch: the window has more than there are threads
  const int64_t records = std::min((max_rows + runs - 1) / runs, kRunBytes / std::max<int64_t>(row_bytes, 1));
  return std::max(records, kMinRecords);
}

Result<Pipeline> make_pipeline(SourceRef source, const PipelineConfig& config, const Steps& steps,
                               const Device& device, bool heavy) {
  if (config.sample.pack_length >= 0 && source->facts().packing.empty())
    return error(Code::kBadOption,
                 "option pack_length: the dataset was opened without it; open the dataset with pack_length");
  Pipeline pipeline;
  pipeline.heavy = heavy;
  pipeline.max_bytes_per_sample = config.sample.max_bytes_per_sample;
  pipeline.source = std::move(source);
  // A batch has samples of one size, though parts have several, where its samples are of one part.
  const bool sizes_by_part = config.batches_of_one_part || steps.global_batch() == 1;
  DL_ASSIGN_OR_RETURN(GroupTransforms compiled,
                      compile_groups(*pipeline.source, config.sample, config.buckets, sizes_by_part));
  const std::vector<BatchMix> mixes =
      compiled.groups[0].mixes;  // of the loader's transform, the same for all
  auto part_shapes = std::move(compiled.part_shapes);
  DL_RETURN_IF_ERROR(place_fields(pipeline, std::move(compiled), config, device));
  Layout& layout = pipeline.layout;
  const int64_t max_rows = steps.max_rows();
  DL_ASSIGN_OR_RETURN(
      layout, plan_layout(std::move(layout.storages), std::move(layout.regions), max_rows,
                          bucket_shapes(config.buckets, steps), pipeline.source->facts().mix != nullptr));

  layout.part_shapes = std::move(part_shapes);
  for (const auto& program : pipeline.programs) {
    pipeline.program_scratch_bytes = std::max(pipeline.program_scratch_bytes, program->scratch_bytes());
  }
  DL_RETURN_IF_ERROR(add_mixes(pipeline, mixes));
  for (const StoragePass& pass : pipeline.passes) {
    pipeline.state_bytes += pass.program->state_bytes();
    pipeline.heavy = pipeline.heavy || pass.program->heavy();
  }
  pipeline.record_scratch_bytes = round_up(pipeline.source->scratch_bytes(pipeline.max_bytes_per_sample), 64);
  if (pipeline.record_scratch_bytes > 0) {
    pipeline.run_records =
        std::clamp<int64_t>(kRunScratchBytes / pipeline.record_scratch_bytes, 1, kMaxRunRecords);
  }
  const HostCalls host_calls = pipeline.source->facts().host_calls;
  pipeline.calls_host = host_calls != HostCalls::kNone;
  pipeline.waits_for_host = host_calls == HostCalls::kMayBlock;
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

std::vector<PlanStage> describe_plan(const Pipeline& pipeline, const Device& device) {
  std::vector<PlanStage> stages;
  const int32_t goes_to = device.type();
  const std::vector<Field>& fields = pipeline.source->schema().fields;
  for (size_t f = 0; f < pipeline.routes.size(); ++f) {
    const Route& route = pipeline.routes[f];
    const auto add = [&](int32_t where, std::string text, int64_t in, int64_t out) {
      stages.push_back({where, fields[f].name, std::move(text), in, out});
    };
    const bool gathers = route.host_text.empty();
    const std::string host = gathers ? "gather" : route.host_text;
    const DeviceTail* tail = route.tail < 0 ? nullptr : &pipeline.tails[static_cast<size_t>(route.tail)];
    const int64_t geometry =
        tail != nullptr && tail->geometry_storage >= 0 ? int64_t{sizeof(TailGeometry)} : 0;
    if (pipeline.resident && tail != nullptr) {  // every field of a set on the device has a tail
      // What is done once at create, then what each batch sends: one index per sample, and geometry.
      const int64_t held = pipeline.resident->storages[static_cast<size_t>(tail->storage)].row_bytes;
      add(kCpu, concat(host, ", once"), route.stored_bytes, held);
      const int64_t sent = (f == 0 ? int64_t{sizeof(int64_t)} : 0) + geometry;
      if (sent > 0) add(goes_to, "copy", sent, sent);
    } else if (route.carrier >= 0) {
      add(goes_to, concat("with ", fields[static_cast<size_t>(route.carrier)].name), 0, 0);
    } else {
      const int64_t crossing = crossing_bytes(pipeline.layout.storages[static_cast<size_t>(route.storage)]);
      // A shared column is gathered as a whole.
      add(kCpu, host, gathers ? crossing : route.stored_bytes, crossing);
      const int64_t sent = crossing < 0 ? -1 : crossing + geometry;
      if (goes_to != kCpu) add(goes_to, "copy", sent, sent);
    }
    if (tail == nullptr) continue;
    const bool moves = pipeline.resident && route.device_text.empty();
    add(goes_to, moves ? "gather" : route.device_text, tail->tail.in_bytes(), tail->tail.out_bytes());
  }
  return stages;
}

}  // namespace dataline
