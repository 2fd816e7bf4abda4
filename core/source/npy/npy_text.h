// The parser for the text of an .npy header.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/status.h"

namespace dataline {

// The values of the three keys. The type is still text.
struct NpyText {
  std::string descr;
  bool fortran_order = false;
  std::vector<int64_t> shape;
};

// `path` and `offset` (of the text in the file) are for messages. kCorrupt for a syntax error; kUnsupported for a structured
// type (a list or tuple), or kUnsafeType if it contains an object type.
Result<NpyText> parse_npy_text(const std::string& path, int64_t offset, std::string_view text);

}  // namespace dataline
