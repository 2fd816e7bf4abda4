// Brace ranges in a path of a URI: train-{000..127}.tar stands for 128 files.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/status.h"

namespace dataline {

constexpr int64_t kMaxRangeFiles = int64_t{1} << 20;

// The paths that `text`, a path as written in a URI, stands for, decoded (%XX). Several ranges multiply; the last one
// counts fastest. If either end of a range begins with 0, numbers are zero-padded to the width of the longer end. A literal
// brace is written %7B. `column` is that of text[0]. kBadUri with column: braces that do not match, nest, or hold anything
// but two ascending numbers; more than kMaxRangeFiles files or 256 MiB of names, checked before any name is built.
Result<std::vector<std::string>> expand_ranges(std::string_view text, int64_t column);

}  // namespace dataline
