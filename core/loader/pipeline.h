// What happens to every sample, fixed at create: the source, its fields' programs, where their rows go, and what a
// device does with them there.
// Threads: immutable after create.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/batch/layout.h"
#include "core/batch/view.h"
#include "core/device/device.h"
#include "core/loader/config.h"
#include "core/source/source.h"
#include "core/transform/transform.h"

namespace dataline {

// One pass over the rows of a run: a column's bytes through a program into a storage.
struct Pass {
  const Program* program = nullptr;
  int32_t column = 0;
  int64_t source_offset = 0;
  bool whole_column = false;  // the program's input is the column's whole row
};

// The part of a field's transform that runs on the device: from a storage's rows to a region.
struct DeviceTail {
  Tail tail;
  int32_t storage = 0;
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

struct Pipeline {
  SourceRef source;
  std::vector<std::unique_ptr<const Program>> programs;
  std::vector<Pass> passes;  // one a storage
  std::vector<OutputField> outputs;
  std::vector<DeviceTail> tails;
  std::vector<Route> routes;  // one a field
  Layout layout;
  int64_t record_scratch_bytes = 0;   // Source::scratch_bytes, rounded to 64
  int64_t program_scratch_bytes = 0;  // the largest of the programs
  int64_t run_records = kMaxRunRecords;
  bool calls_host = false;  // of the source, which is let go when the loader stops
};

// A field's tail runs on the device where the device can, and what crosses the bus is then no larger than what is
// delivered. kBadTransform, kNoSuchField, kOverBudget.
Result<Pipeline> make_pipeline(SourceRef source, const LoaderConfig& config, int64_t max_rows,
                               const Device& device);

}  // namespace dataline
