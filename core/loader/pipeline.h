// What happens to every sample, fixed at create: the source, its fields' programs, where their rows go, and what a
// device does with them there.
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
#include "core/loader/config.h"
#include "core/source/source.h"
#include "core/transform/mix/mix.h"
#include "core/transform/transform.h"

namespace dataline {

// One pass over the rows of a run: a column's bytes through a program into a storage.
struct StoragePass {
  const Program* program = nullptr;
  int32_t column = 0;
  int64_t source_offset = 0;
  bool whole_column = false;  // the program's input is the column's whole row
};

// The part of a field's transform that runs on the device: from a storage's rows to a region.
struct DeviceTail {
  Tail tail;
  int32_t storage = 0;            // of the slot; of `resident` where the pipeline has that
  int64_t storage_offset = 0;     // bytes into a row of it
  int32_t geometry_storage = -1;  // of one TailGeometry a row; -1: none
  int32_t region = 0;
};

// How a field travels, for those who ask: dl_loader_plan_at.
struct Route {
  std::string host_text, device_text;  // operators as written
  int64_t stored_bytes = 0;            // of a sample; -1 varying
  int32_t storage = 0;                 // what crosses the bus, if anything does
  int32_t carrier = -1;                // another field whose bytes this one lies in; -1: none
  int32_t tail = -1;                   // of Pipeline::tails; -1: none
};

// What the device holds as long as the loader lives (io=device): rows of all samples, by sample index.
constexpr int64_t kResidentLimitBytes = int64_t{1} << 46;  // far beyond any device, far below overflow
struct ResidentRows {
  int64_t row_bytes = 0;
  int64_t offset = 0;  // in the device's block
};
struct Resident {
  std::vector<ResidentRows> storages;
  std::vector<StoragePass> passes;  // how rows get there, one a storage
  int64_t state_bytes = 0;          // what their programs keep while the set is sent
  int64_t bytes = 0;                // of the block
  int64_t row_bytes = 0;            // of one sample in all storages
  int64_t staging_bytes = 0;        // host memory that they are sent from
};

// Rows of a field in a slot that mixup or cutmix works on.
struct MixedField {
  int32_t storage = 0;
  int64_t offset = 0;  // bytes into a row of it
  int64_t row_bytes = 0;
  DType dtype = DType::kF32;
};
struct MixStep {
  BatchMix mix;
  MixedField image, labels;
};

struct Pipeline {
  SourceRef source;
  std::vector<std::unique_ptr<const Program>> programs;
  std::vector<StoragePass> passes;  // one a storage
  std::vector<OutputField> outputs;
  std::vector<DeviceTail> tails;
  std::vector<Route> routes;  // one a field
  std::vector<MixStep> mixes;
  std::optional<Resident> resident;
  Layout layout;
  int64_t record_scratch_bytes = 0;   // Source::scratch_bytes, rounded to 64
  int64_t program_scratch_bytes = 0;  // the largest of the programs
  int64_t state_bytes = 0;            // what the programs of `passes` keep for each thread that fills
  int64_t run_records = kMaxRunRecords;
  bool heavy = false;       // a row takes hundreds of microseconds or more (Program::heavy)
  bool calls_host = false;  // of the source, which is let go when the loader stops

  // Whether a consumer that waits may fill rows, beside so many workers: not where its deadline would pass meanwhile.
  bool consumer_fills(int64_t workers) const { return workers == 0 || (!heavy && !calls_host); }
  // Whether threads fill the same batch together though each could have its own: where a batch takes long.
  bool shares_batches() const { return heavy || calls_host; }
};

// Records that a thread claims at once where they are only copied and converted: whole batches, unless the window holds
// fewer batches than there are threads, or a run would take longer than a consumer that helps may be late for its batch.
// Not less than 64: a run begins without rows asked into the cache ahead (784-byte rows: 10 % of the copy of 64).
int64_t copied_records_of_run(int64_t max_rows, int64_t row_bytes, int64_t threads, int64_t depth);

// What the programs of the passes keep for one thread, pass by pass; null for those that keep nothing.
using PassStates = std::vector<std::unique_ptr<ProgramState>>;
Result<PassStates> make_states(const std::vector<StoragePass>& passes, HostMemory& memory);

// Parts of a transform run on the device if it has kernels for them and the rows that cross the bus are no larger than what
// is delivered. With io=device (resident.h) all fields are held there. kBadTransform, kNoSuchField, kOverBudget,
// kUnsupported.
Result<Pipeline> make_pipeline(SourceRef source, const LoaderConfig& config, int64_t max_rows,
                               const Device& device);

}  // namespace dataline
