// A file of JSON lines like those of text sets: one text of about a kilobyte and a label each.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace bench {

constexpr int64_t kLabels = 10;  // of each set with labels: sample i has i % 10

// The text of a line, in UTF-8: words, with the quotes, line ends and letters that JSON escapes or may escape.
std::string text_of_line(int64_t line);
// Made when absent, as Python's json.dumps writes it, and on disk when it returns.
std::string json_lines_file(const std::string& data_dir, int64_t lines);

}  // namespace bench
