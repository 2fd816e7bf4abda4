// The compiled kernels that this build holds.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

namespace dataline {

// A fat binary; empty in a build without the CUDA compiler.
std::span<const std::byte> kernel_image();

}  // namespace dataline
