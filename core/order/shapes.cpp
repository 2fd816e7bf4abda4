// SPDX-License-Identifier: Apache-2.0
#include "core/order/shapes.h"

#include <algorithm>

#include "core/base/checked.h"

namespace dataline {
namespace {

// By how much the aspect ratios of an image and a shape differ, as a ratio of at least 1: exp of the distance of their
// logarithms.
struct AspectDistance {
  uint64_t larger = 1, smaller = 1;

  bool operator<(const AspectDistance& other) const {
    return static_cast<u128>(larger) * other.smaller < static_cast<u128>(other.larger) * smaller;
  }
};

AspectDistance distance(int64_t height, int64_t width, const ImageBucket& shape) {
  const uint64_t a = static_cast<uint64_t>(width) * static_cast<uint64_t>(shape.height);
  const uint64_t b = static_cast<uint64_t>(height) * static_cast<uint64_t>(shape.width);
  return {std::max(a, b), std::min(a, b)};
}

}  // namespace

bool same_aspect(const ImageBucket& a, const ImageBucket& b) {
  const AspectDistance apart = distance(a.height, a.width, b);
  return apart.larger == apart.smaller;
}

size_t nearest_shape(int64_t height, int64_t width, std::span<const ImageBucket> shapes) {
  size_t nearest = 0;
  AspectDistance least = distance(height, width, shapes[0]);
  for (size_t s = 1; s < shapes.size(); ++s) {
    const AspectDistance here = distance(height, width, shapes[s]);
    if (!(here < least)) continue;
    least = here;
    nearest = s;
  }
  return nearest;
}

}  // namespace dataline
