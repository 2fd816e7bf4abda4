// Arrays for --sample_indices and --weights: a one-dimensional .npy file, or text with numbers separated by line ends, spaces
// or commas (`#` starts a comment, as in NumPy's savetxt). The content tells which.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bindings/cli/interrupts.h"

namespace dataline::cli {

// Throw Failure with the file's name and the position, or Interrupted.
std::vector<int64_t> read_indices(const std::string& path, const Interrupts& interrupts);
std::vector<int64_t> read_lengths(const std::string& path, const Interrupts& interrupts);
std::vector<double> read_weights(const std::string& path, const Interrupts& interrupts);

}  // namespace dataline::cli
