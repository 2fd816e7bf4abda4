// .safetensors files made by hand.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/text.h"
#include "tests/source/source_support.h"

namespace dataline {

// A header as it stands, and the data after it.
inline std::string safetensors_bytes(const std::string& header, const std::string& data = "") {
  return raw_bytes(static_cast<uint64_t>(header.size())) + header + data;
}

struct MadeTensor {
  std::string name, dtype;
  std::vector<int64_t> shape;
  std::string data;
};

inline std::string tensor_entry(const std::string& name, const std::string& dtype, const std::string& shape,
                                int64_t begin, int64_t end) {
  return concat("\"", name, "\":{\"dtype\":\"", dtype, "\",\"shape\":[", shape, "],\"data_offsets\":[", begin,
                ",", end, "]}");
}

// As the library writes them: padded to eight bytes, unless `padding` says otherwise.
inline std::string safetensors_file(const std::vector<MadeTensor>& tensors, const std::string& metadata = "",
                                    size_t padding = 8) {
  std::string header = "{" + (metadata.empty() ? "" : "\"__metadata__\":" + metadata), data;
  for (const MadeTensor& tensor : tensors) {
    std::string shape;
    for (const int64_t dim : tensor.shape) shape += concat(shape.empty() ? "" : ",", dim);
    const auto begin = static_cast<int64_t>(data.size());
    data += tensor.data;
    header += (header.size() == 1 ? "" : ",") +
              tensor_entry(tensor.name, tensor.dtype, shape, begin, static_cast<int64_t>(data.size()));
  }
  header += "}";
  while (header.size() % padding != 0) header += ' ';
  return safetensors_bytes(header, data);
}

}  // namespace dataline
