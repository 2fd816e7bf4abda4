// Turns delivered tensors back into pictures.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <dataline.h>

#include <string>
#include <vector>

#include "bindings/cli/png_file.h"

namespace dataline::cli {

// How a field's values become pixels of 0 to 255.
struct PixelScale {
  // pixel = (value - offset) / scale, per channel. Empty: each picture's values are stretched to 0 .. 255.
  std::vector<double> scale{}, offset{};
};

// The layout of a picture in a view of a batch.
struct PictureShape {
  int64_t height = 0, width = 0, channels = 1;
  int64_t row_stride = 0, column_stride = 0, channel_stride = 0;  // in elements
};

// From the view's axes or, without axes, its dims: 2 dims are HW; 3 dims are HWC (CHW) if the last (first) is 1, 3 or 4. Also for
// views of a schema, whose dims may be -1. Throws Failure if it is not a picture.
PictureShape picture_shape(const dl_view& view);

// How the values of a loader's field become pixels, as the library reports it; empty if they are no pixels any more.
PixelScale pixel_scale(const dl_loader* loader, int32_t field, const dl_dataset* dataset);

// The picture in one row of a batch. Alpha is blended over grey.
Picture picture_of(const dl_view& view, int64_t row, const PixelScale& pixels);

// One value of a batch, of any dtype, as a number.
double value_at(const dl_view& view, int64_t element);

}  // namespace dataline::cli
