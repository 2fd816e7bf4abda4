// Where each part of a sample's way runs, as a loader tells it.
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
  std::string runs_on;   // "cpu", "cuda:0"; of a copy, where it goes
  std::string text;      // "gather", "copy", or operators
  int64_t bytes_in = 0;  // of one sample; -1 varying
  int64_t bytes_out = 0;
};

struct Plan {
  std::vector<PlanStage> stages;
  std::optional<int64_t> bus_bytes = 0;  // of one sample; empty where it varies
};

// Throws Failure.
Plan plan_of(const dl_loader* loader);

// "cpu", "cuda:0": where the first of a schema's or batch's fields is.
std::string device_name(const dl_loader* loader);

// The keys `plan` and `bus_bytes_per_sample` (SURFACE section 5).
void append_plan(const Plan& plan, Json& json);
std::string plan_table(const Plan& plan);

}  // namespace dataline::cli
