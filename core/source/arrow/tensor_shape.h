// The extension type arrow.fixed_shape_tensor: a fixed-size list whose dims are in the metadata of its field, as JSON:
//   {"shape": [2, 5], "dim_names": ["H", "W"], "permutation": [1, 0]}
// Source: Apache Arrow, "Canonical Extension Types", 2024.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/status.h"
#include "core/source/arrow/schema.h"

namespace dataline {

constexpr std::string_view kTensorExtension = "arrow.fixed_shape_tensor";

struct TensorShape {
  std::vector<int64_t> shape;  // as stored
  std::string axes;            // the names of the dims, if each is one letter
  bool permuted = false;       // the logical order of the dims is another one
};

// kCorrupt: no such JSON, or another number of values than the list has; kUnsupported: a tensor that is not a list of values.
Result<TensorShape> read_tensor_shape(const std::string& path, const ArrowField& field);

}  // namespace dataline
