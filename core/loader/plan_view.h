// What runs where, for dl_loader_plan_at.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/loader/pipeline.h"

namespace dataline {

// One stage.
struct PlanStage {
  int32_t device_type = 1;  // the device that runs it; for a copy, its destination
  std::string field, text;
  int64_t bytes_in = 0, bytes_out = 0;  // per sample; -1: varies
};

// For each field in order: what the host does, what crosses the bus, what the device does.
std::vector<PlanStage> describe_plan(const Pipeline& pipeline, const Device& device);

}  // namespace dataline
