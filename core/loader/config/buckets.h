// Batches by length or shape (core/loader/buckets.h). How many rows they have is in StepConfig.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "core/order/shapes.h"
#include "core/source/host/host_array.h"
#include "core/transform/decode/decoder.h"

namespace dataline {

struct BucketConfig {
  BucketBy by = BucketBy::kLength;
  std::vector<ImageBucket> shapes;  // by aspect
  std::vector<int64_t> edges;       // items of a row; of images height x width; none: no buckets
  int64_t max_tokens = -1;
  HostArray<int64_t> lengths;
  bool adds_field = false;  // the loader's own field, `length` or `size`; known with the set
};

}  // namespace dataline
