// The text of an .npy header, token by token.
// Threads: used by one reader.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/status.h"

namespace dataline {

// What the three keys say, still as text where a later step judges it.
struct NpyText {
  std::string descr;
  bool fortran_order = false;
  std::vector<int64_t> shape;
};

// `path` and `offset` (of the text in the file) are for messages. kCorrupt for what is not the grammar;
// kUnsupported for a structured type (a list or tuple), or kUnsafeType when an object type lies in it.
Result<NpyText> parse_npy_text(const std::string& path, int64_t offset, std::string_view text);

}  // namespace dataline
