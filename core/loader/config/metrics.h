// What a loader measures of itself from create on.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace dataline {

enum class StatsLevel : int32_t { kBasic, kFull };

struct MetricsConfig {
  StatsLevel stats = StatsLevel::kBasic;
  std::string trace;  // a file; "": none
};

}  // namespace dataline
