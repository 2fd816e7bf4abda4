// The plan of a loader: where each stage of a sample runs.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bindings/cli/handles.h"
#include "bindings/cli/json.h"

namespace dataline::cli {

struct PlanStage {
  std::string field;
  std::string runs_on;   // "cpu", "cuda:0"; the destination of a copy
  std::string text;      // "gather", "copy", or operators
  int64_t bytes_in = 0;  // per sample; -1 if it varies
  int64_t bytes_out = 0;
};

struct Plan {
  std::vector<PlanStage> stages;
  std::optional<int64_t> bus_bytes = 0;  // per sample; empty if it varies
  std::vector<std::string> warnings;  // why it is no other: "transforms run on the CPU, not on cuda:0: ..."
};

// `warnings`: those of its making. Throws Failure.
Plan plan_of(const dl_loader* loader, std::vector<std::string> warnings);

// "cpu", "cuda:0": the device of the first field of a schema or batch.
std::string device_name(const dl_loader* loader);

// The keys `warnings`, `plan` and `bus_bytes_per_sample` (SURFACE section 5).
void append_plan(const Plan& plan, Json& json);
std::string plan_table(const Plan& plan);

}  // namespace dataline::cli
