// Batches by aspect ratio: the sizes of all images, read from their headers when the loader is made, and the shape of each.
// Threads: read_shapes() starts some and joins them; the rest are values.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "core/base/cancel.h"
#include "core/base/log.h"
#include "core/base/status.h"
#include "core/memory/host_memory.h"
#include "core/order/shapes.h"
#include "core/source/source.h"

namespace dataline {

// Of an image as it is decoded, before operators: i32[2], the field `size`. 0x0: its header cannot be read.
struct StoredSize {
  int32_t height = 0, width = 0;
};

struct ShapeRequest {
  const Source* source = nullptr;
  size_t field = 0;      // of encoded images
  bool upright = false;  // sizes are those after the Exif orientation
  int64_t max_bytes_per_sample = 0;
  std::span<const ImageBucket> shapes;
  HostMemory* memory = nullptr;
  const CancelToken* token = nullptr;  // may be null
  Log log;
};

// Sets the size and the shape of each image. One whose header says no size is a bad sample when its turn comes, as in any
// other loader, and lies until then in the shape that most images have: it must not keep a job of a million images from
// beginning. But what a machine may answer otherwise the next time (a read that fails, a file that is gone) is an error
// here, with the sample: else ranks would not agree on the shapes. kCancelled, kOverBudget, kNoMemory.
Status read_shapes(const ShapeRequest& request, std::span<StoredSize> sizes, std::span<uint16_t> shape_of);

}  // namespace dataline
