// What the colour operators check in the same words.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

#include "core/transform/color/auto_augment.h"
#include "core/transform/frame/pad.h"
#include "core/transform/operators/checks.h"

namespace dataline {

// A frame of 1 or 3 channels: colours of what has an alpha are not defined in torchvision either.
Result<FrameShape> want_colors(const Arguments& arguments, const Plan& plan);
// A number from `low` to `high`.
Result<double> bounded_argument(const Arguments& arguments, size_t index, double low, double high);
// Two numbers from `low` to `high`, the smaller first.
Result<Range> bounds_argument(const Arguments& arguments, size_t index, double low, double high);
// One byte a channel; the rest 0. Zeros when not given.
Result<std::array<uint8_t, 4>> fill_argument(const Arguments& arguments, size_t index, int64_t channels);
// filter= and fill= of the policies.
Result<AugmentStyle> style_arguments(const Arguments& arguments, size_t filter, size_t fill,
                                     int64_t channels);

}  // namespace dataline
