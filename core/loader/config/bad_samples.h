// What becomes of samples that cannot be delivered.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace dataline {

enum class OnError : int32_t { kRaise, kReplace, kQuarantine };

struct BadSampleConfig {
  OnError on_error = OnError::kRaise;
  int64_t max_bad = -1;  // distinct samples of a job; -1: no limit
};

}  // namespace dataline
