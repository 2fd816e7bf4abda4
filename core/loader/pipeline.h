// What is fixed at create. The pipeline, which says what happens to every sample: the source, the programs of its fields, the
// storages they write, and the device's part. And how much memory it takes.
// Threads: immutable after create.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/batch/layout.h"
#include "core/batch/view.h"
#include "core/device/device.h"
#include "core/loader/mixed_fields.h"
#include "core/source/host/host.h"
#include "core/source/run_memory.h"
#include "core/source/source.h"
#include "core/transform/mix/mix.h"
#include "core/transform/transform.h"

namespace dataline {

struct LoaderConfig;  // core/loader/config.h

class Order;
class Steps;
struct BucketConfig;
struct DeliveryConfig;
struct MemoryConfig;
struct SampleConfig;
struct WindowConfig;
struct WorkerConfig;

// What of a loader's configuration decides a pipeline. Borrowed.
struct PipelineConfig {
  const SampleConfig& sample;
  const BucketConfig& buckets;
  const WorkerConfig& workers;
  const WindowConfig& window;
  const DeliveryConfig& delivery;
  bool batches_of_one_part = false;  // of a mix: homogeneous=batch
};

// One pass over the rows of a run: a program reads a column and writes a storage.
struct StoragePass {
  const Program* program = nullptr;
  int32_t column = 0;
  int64_t source_offset = 0;
  bool whole_column = false;  // the program's input is the column's whole row
};

// The part of a field's transform that runs on the device: from a storage's rows to a region.
struct DeviceTail {
  Tail tail;
  int32_t storage = 0;            // of the slot; of `resident` if the pipeline has that
  int64_t storage_offset = 0;     // in a row of the storage
  int32_t geometry_storage = -1;  // of one TailGeometry per row; -1: none
  int32_t region = 0;
};

// How a field gets to the device, for dl_loader_plan_at.
struct Route {
  std::string host_text, device_text;  // operators as written
  int64_t stored_bytes = 0;            // per sample; -1: varies
  int32_t storage = 0;                 // what crosses the bus, if anything
  int32_t carrier = -1;                // another field whose bytes contain this one; -1: none
  int32_t tail = -1;                   // of Pipeline::tails; -1: none
};

// What the device holds for the lifetime of the loader (io=device): rows of all samples, by sample index.
constexpr int64_t kResidentLimitBytes = int64_t{1} << 46;  // far beyond any device, far below overflow
struct ResidentRows {
  int64_t row_bytes = 0;
  int64_t offset = 0;  // in the device's block
};
struct Resident {
  std::vector<ResidentRows> storages;
  std::vector<StoragePass> passes;  // that make the rows, one per storage
  int64_t state_bytes = 0;          // of their programs, during the upload
  int64_t bytes = 0;                // of the block
  int64_t row_bytes = 0;            // of one sample in all storages
  int64_t staging_bytes = 0;        // host memory for the upload
};

// Rows of a field in a slot that mixup or cutmix changes.
struct MixedField {
  int32_t storage = 0;
  int64_t offset = 0;  // in a row of the storage
  int64_t row_bytes = 0;
  DType dtype = DType::kF32;
};
struct MixStep {
  BatchMix mix;
  MixedField image, labels;
};

struct Pipeline {
  SourceRef source;
  std::vector<std::unique_ptr<const Program>> programs;  // first those of the first group, one a field
  std::vector<StoragePass> passes;                       // one per storage, group after group
  size_t groups = 1;                                     // of parts of a mix, whose programs differ
  std::vector<OutputField> outputs;
  std::vector<DeviceTail> tails;
  std::vector<Route> routes;  // one per field
  std::vector<MixStep> mixes;
  std::optional<Resident> resident;
  Layout layout;
  int64_t max_bytes_per_sample = 0;   // Run::max_bytes_per_sample
  int64_t record_scratch_bytes = 0;   // Source::scratch_bytes, rounded to 64
  int64_t program_scratch_bytes = 0;  // maximum of the programs
  int64_t state_bytes = 0;            // of the programs of `passes`, per thread that fills
  int64_t run_records = kMaxRunRecords;
  bool heavy = false;           // a row takes hundreds of microseconds or more (Program::heavy)
  bool calls_host = false;      // copied from the source, which is released when the loader stops
  bool waits_for_host = false;  // such a call may take long: HostCalls::kMayBlock
  bool wants_kernels = false;   // work is the host's because the device has no kernels

  // Whether a waiting consumer may fill rows, beside that many workers: not if it could miss its deadline doing so.
  bool consumer_fills(int64_t workers) const { return workers == 0 || (!heavy && !waits_for_host); }
  // Whether threads share a batch although each could fill its own: if a batch takes long.
  bool shares_batches() const { return heavy || waits_for_host; }
};

// What the transforms of a loader are compiled with; borrows the source and `config`.
// `first_record`: whose header tells the type of its images.
TransformSettings transform_settings(const Source& source, const SampleConfig& config,
                                     const BucketConfig& buckets, int64_t first_record);

// How many records a thread claims at once if they are only copied and converted: whole batches, unless the window has fewer
// batches than there are threads, or a run would delay a helping consumer too long. At least 64, since the first rows of a
// run are not prefetched (784-byte rows: 10 % of the copy of 64).
int64_t copied_records_of_run(int64_t max_rows, int64_t row_bytes, int64_t threads, int64_t depth);

// The states of the passes' programs for one thread; null for programs that keep nothing.
using PassStates = std::vector<std::unique_ptr<ProgramState>>;
Result<PassStates> make_states(const std::vector<StoragePass>& passes, HostMemory& memory);

// Parts of a transform run on the device if it has kernels for them and the rows that cross the bus are no larger than what
// is delivered. With io=device (resident.cpp) all fields are held there. kBadTransform, kNoSuchField, kOverBudget,
// kUnsupported.
// `heavy`: reading a record takes as long as decoding it (a cache that is being filled).
Result<Pipeline> make_pipeline(SourceRef source, const PipelineConfig& config, const Steps& steps,
                               const Device& device, bool heavy = false);

// The part of it that decides where the rows of each field go: fills the passes, outputs, tails, routes and resident rows, and
// the layout's storages and regions but for their offsets. With io=device, where every field needs a tail, kUnsupported names
// the field and why the device cannot hold it.
Status place_fields(Pipeline& pipeline, GroupTransforms compiled, const PipelineConfig& config,
                    const Device& device);

// One stage of what runs where, for dl_loader_plan_at.
struct PlanStage {
  int32_t device_type = 1;  // the device that runs it; for a copy, its destination
  std::string field, text;
  int64_t bytes_in = 0, bytes_out = 0;  // per sample; -1: varies
};

// For each field in order: what the host does, what crosses the bus, what the device does.
std::vector<PlanStage> describe_plan(const Pipeline& pipeline, const Device& device);

// Slots of leases that a loader has in any case, and in memory from the start. The others take memory when they are used.
constexpr int64_t kFewLeaseSlots = 4;

// How much memory a loader takes, decided at create: slots, order tables and scratch memory, in one arena that never grows.
struct MemoryPlan {
  int64_t slot_count = 0;
  int64_t lease_slots = 0;  // of them; leases beyond them are copies, up to max_leases
  int64_t slots_offset = 0, slot_stride = 0;
  // Of each slot's shares, in address space of their own: not in arena_bytes; 0: they are in the slot.
  int64_t shares_stride = 0;
  int64_t table_count = 0, tables_offset = 0, table_stride = 0;
  int64_t scratch_count = 0, scratch_offset = 0, scratch_stride = 0;
  int64_t state_count = 0,
          state_bytes = 0;  // what programs keep for each thread that fills, beside the arena
  int64_t arena_bytes = 0;
  int64_t slot_objects_bytes = 0;  // on the heap, for all slots
  int64_t order_bytes = 0;         // order tables, and what the order and the buckets allocated
  int64_t held_bytes = 0;  // at most: the arena, the slots' objects, what the order allocated, and states
  bool fits = false;       // some machine's memory; else held_bytes counts only a part
};

// pinned: slots are page-locked, so all of their memory is touched. kOverBudget names the smallest memory_budget that works
// and the options to lower.
// Plans for what tuning may grow to as far as it fits, and lowers num_workers and prefetch_depth to that. What the loader
// starts with must fit: with num_workers=auto one worker, otherwise all. Rows without a fixed size need memory that no plan
// knows: half of the budget stays free for them where shrinking can leave it, and the depth does not grow.
Result<MemoryPlan> fit_plan(LoaderConfig& config, const Pipeline& pipeline, const Order& order,
                            const Steps& steps, bool pinned);

}  // namespace dataline
