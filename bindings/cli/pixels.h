// What a loader delivers, as pictures again.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <dataline.h>

#include <string>
#include <vector>

#include "bindings/cli/png_file.h"

namespace dataline::cli {

// How a field's values become pixels of 0 to 255.
struct PixelScale {
  // pixel = (value - offset) / scale, one a channel; empty: stretched from each picture's least to its greatest value.
  std::vector<double> scale{}, offset{};
};

// Where a picture's rows, columns and channels are in a view of a batch.
struct PictureShape {
  int64_t height = 0, width = 0, channels = 1;
  int64_t row_stride = 0, column_stride = 0, channel_stride = 0;  // in elements
};

// By its axes, or, where it has none, by its dims: 2 are HxW, 3 with 1, 3 or 4 of the last (or first) are HWC (or CHW).
// Of a batch's view; of a schema (dims may be -1) too. Throws Failure for what is no picture.
PictureShape picture_shape(const dl_view& view);

// The picture of one row of a batch. Alpha is laid over grey.
Picture picture_of(const dl_view& view, int64_t row, const PixelScale& pixels);

// One value of a batch: as a number, whatever the dtype.
double value_at(const dl_view& view, int64_t element);

}  // namespace dataline::cli
