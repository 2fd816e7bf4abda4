// The kernels of core/device/kernels on the host: their own bodies, one thread of the launch after the other.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "tests/support/fake_cuda/twins.h"

namespace fake_cuda {

std::vector<Twin> kernel_twins();

}  // namespace fake_cuda
