// What a sample becomes: its transform, and the limits of one sample.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/transform/decode/decoder.h"

namespace dataline {

struct Extensions;  // core/loader/extensions.h

struct SampleConfig {
  std::string transform;
  std::vector<int64_t> transform_places;  // TransformSettings::first_places: where a cache cut it
  int64_t max_bytes_per_sample = 1 << 20;
  // A batch of one sample has room for the largest image that max_pixels allows: address space, which costs nothing.
  bool fits_any_image = false;
  DecodeLimits decode_limits;
  int64_t pack_length = -1;                      // must be the value that the dataset was opened with
  std::shared_ptr<const Extensions> extensions;  // whose operators the transform may name; may be null
};

}  // namespace dataline
