// The requested order of samples.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "core/order/order.h"
#include "core/source/host/host_array.h"

namespace dataline {

enum class Homogeneous : int32_t { kNone, kBatch };

struct OrderConfig {
  Shuffle shuffle = Shuffle::kNone;
  int64_t shuffle_block = 8 << 20, shuffle_blocks = 512;
  bool shuffle_blocks_given = false;
  uint64_t seed = 0;  // also of augmentations and of replacements
  HostArray<int64_t> indices;
  HostArray<double> weights;
  bool replacement = true;
  int64_t samples_per_epoch = -1;
  Homogeneous homogeneous = Homogeneous::kNone;
};

}  // namespace dataline
