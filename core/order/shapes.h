// Buckets of images by aspect ratio: each image goes to the shape whose aspect ratio is nearest.
// Threads: pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace dataline {

// The size that the images of a bucket are given.
struct ImageBucket {
  int64_t height = 0;  // > 0
  int64_t width = 0;

  bool operator==(const ImageBucket&) const = default;
};

// Whether both have one aspect ratio: then every image that is nearest to one is as near to the other.
bool same_aspect(const ImageBucket& a, const ImageBucket& b);

// Of an image of height x width, both > 0: the shape for which |log(width / height) - log(shape's)| is least, the first of
// equal ones. Exact: ratios of whole numbers are compared, no logarithm is taken. Sides below 2^32.
size_t nearest_shape(int64_t height, int64_t width, std::span<const ImageBucket> shapes);

}  // namespace dataline
