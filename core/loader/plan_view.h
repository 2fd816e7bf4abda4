// Where each part of a sample's way runs, for those who ask.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/loader/pipeline.h"

namespace dataline {

// One stage of dl_loader_plan_at.
struct PlanStage {
  int32_t device_type = 1;  // where it runs; of a copy, where it goes
  std::string field, text;
  int64_t bytes_in = 0, bytes_out = 0;  // of a sample; -1 varying
};

// Field by field, in order: what the host does, what crosses the bus, what the device does.
std::vector<PlanStage> describe_plan(const Pipeline& pipeline, const Device& device);

}  // namespace dataline
