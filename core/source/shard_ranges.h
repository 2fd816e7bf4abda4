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

// The paths that `text`, a path as it stands in a URI, means; each is decoded (%XX) after. Several ranges multiply, the
// last one counting fastest. Numbers are padded with zeros to the width of the longer end when one of the ends begins
// with 0. A literal brace is written %7B. `column` is that of text[0]; kBadUri with column: braces that do not match,
// nest, or hold anything but two numbers that count up; more than kMaxRangeFiles files,
// or names of 256 MiB in all. Nothing is made before all of that is known.
Result<std::vector<std::string>> expand_ranges(std::string_view text, int64_t column);

}  // namespace dataline
