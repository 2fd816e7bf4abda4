// Sets of samples as text, each with a label: JSON lines with a text of about a kilobyte, and CSV with a column a pixel.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace bench {

constexpr int64_t kLabels = 10;  // of each set with labels: sample i has i % 10

// The text of a line, in UTF-8: words, with the quotes, line ends and letters that JSON escapes or may escape.
std::string text_of_line(int64_t line);
// Made when absent, as Python's json.dumps writes it, and on disk when it returns.
std::string json_lines_file(const std::string& data_dir, int64_t lines);

// Rows of pixels as CSV, the columns pixel0, pixel1, ... and label. Made when absent, on disk when it returns.
std::string csv_file(const std::string& path, const std::byte* rows, int64_t count, int64_t row_bytes);

}  // namespace bench
