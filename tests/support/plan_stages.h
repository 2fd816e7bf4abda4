// What dl_loader_plan_at tells of a loader, to compare.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <ostream>
#include <string>
#include <vector>

#include "tests/support/job.h"

namespace dataline::tests {

struct Stage {
  std::string field, text;
  int32_t device_type;
  int64_t bytes_in, bytes_out;
  bool operator==(const Stage&) const = default;
};
inline void PrintTo(const Stage& stage, std::ostream* out) {
  *out << stage.field << ": '" << stage.text << "' on " << stage.device_type << ", " << stage.bytes_in
       << " to " << stage.bytes_out;
}

inline std::vector<Stage> plan_of(const Loader& loader) {
  std::vector<Stage> stages;
  for (int32_t i = 0; i < dl_loader_plan_count(loader.get()); ++i) {
    dl_plan_stage stage = {};
    stage.struct_size = sizeof stage;
    Error error;
    EXPECT_EQ(dl_loader_plan_at(loader.get(), i, &stage, &error), DL_OK) << error.message;
    stages.push_back({stage.field, stage.text, stage.device_type, stage.bytes_in, stage.bytes_out});
  }
  return stages;
}

}  // namespace dataline::tests
