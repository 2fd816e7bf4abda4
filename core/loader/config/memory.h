// How much host memory a loader may take.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace dataline {

struct MemoryConfig {
  int64_t budget_bytes = 0;
  bool budget_is_auto = true;
  int64_t bucket_table_bytes = 0;  // of lengths or sizes; known with the set
};

}  // namespace dataline
