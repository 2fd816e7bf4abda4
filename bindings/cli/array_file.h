// Arrays for --sample_indices and --weights: one-dimensional .npy files, or text with a number a line (or
// separated by spaces or commas; `#` starts a remark, as NumPy's savetxt writes it). Which of both is seen
// from the content.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace dataline::cli {

// Throw Failure naming the file and the place.
std::vector<int64_t> read_indices(const std::string& path);
std::vector<double> read_weights(const std::string& path);

}  // namespace dataline::cli
