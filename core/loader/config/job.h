// Where a job begins and ends.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace dataline {

struct JobConfig {
  int64_t epochs = 0;  // 0: without end
  int64_t start_epoch = 0, start_step = 0;
};

}  // namespace dataline
