// Photographs of several aspect ratios, and loaders of them in batches by aspect.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "core/order/shapes.h"
#include "tests/loader/images/photographs.h"

namespace dataline::tests {

inline const std::vector<ImageBucket> kShapes = {{32, 48}, {40, 40}, {48, 32}};
inline const Settings kByAspect = {{"bucket_by", "aspect"},
                                   {"bucket_edges", "32x48, 40x40,48x32"},
                                   {"transform", "image: decode, resize(bucket)"},
                                   {"shuffle", "full"},
                                   {"batch_size", "4"}};

// Wide, square and high ones.
inline Photographs of_all_aspects(int64_t count) {
  Photographs set;
  set.count = count;
  set.size = [](int64_t i) {
    const int shorter = 40 + static_cast<int>(i * 7 % 23), longer = shorter * 3 / 2 + static_cast<int>(i % 4);
    return i % 3 == 0   ? ImageSize{shorter, longer}
           : i % 3 == 1 ? ImageSize{longer, shorter}
                        : ImageSize{shorter, shorter + 1};
  };
  return set;
}

inline const ImageBucket& shape_for(const Photographs& set, int64_t sample) {
  const ImageSize size = set.size(sample);
  return kShapes[nearest_shape(size.height, size.width, kShapes)];
}

}  // namespace dataline::tests
