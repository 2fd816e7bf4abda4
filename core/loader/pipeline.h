// What happens to every sample, fixed at create: the source, its fields' programs, and where their rows go.
// Threads: immutable after create.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/batch/layout.h"
#include "core/batch/view.h"
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

struct Pipeline {
  SourceRef source;
  std::vector<std::unique_ptr<const Program>> programs;
  std::vector<Pass> passes;  // one a storage
  std::vector<OutputField> outputs;
  Layout layout;
  int64_t record_scratch_bytes = 0;   // Source::scratch_bytes, rounded to 64
  int64_t program_scratch_bytes = 0;  // the largest of the programs
  int64_t run_records = kMaxRunRecords;
};

// kBadTransform, kNoSuchField, kOverBudget.
Result<Pipeline> make_pipeline(SourceRef source, const LoaderConfig& config, int64_t max_rows);

}  // namespace dataline
