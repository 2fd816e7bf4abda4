// Plain twins of the operators on frames: each alone on a whole image in memory, by the plain resampler.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/bytes.h"
#include "core/transform/decode/decoder.h"
#include "core/transform/resample/resampler.h"
#include "tests/transform/support/tensor.h"
#include "tests/transform/support/twin.h"

namespace dataline::tests {

// All of an image, HWC. Fails the test when it cannot be decoded.
Tensor twin_decode(Bytes encoded, const DecodeOptions& options = {});
// One crop, resize or flip of an image of any layout; draw.place is the step's.
Tensor twin_view(const Tensor& in, ViewStep step, const Draw& draw);
Tensor twin_resize(const Tensor& in, int64_t height, int64_t width,
                   Filter filter = Filter::kBilinear);  // width 0: as resize(height)

}  // namespace dataline::tests
