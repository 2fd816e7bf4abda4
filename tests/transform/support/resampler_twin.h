// The resampler as core/transform/resample/kernels.h defines it, one output pixel after the other.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "core/transform/resample/resampler.h"

namespace dataline::tests {

std::unique_ptr<Resampler> make_plain_resampler();

}  // namespace dataline::tests
