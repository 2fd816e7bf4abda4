// Small text for people: numbers, nearest names, wrapped columns.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace dataline::cli {

std::string grouped(int64_t value);           // 60,000
std::string fixed(double value, int digits);  // 3.14, a point whatever the locale
// "3 images were delivered though their decoder warned of damage (...)", of dl_stats.warned.
std::string warned_text(int64_t images);
std::string scaled(double value);                            // 6.91 M; 834; 12.3 k
std::string bytes_text(double bytes);                        // 47.0 MB, powers of 1000
std::string shape_text(const int64_t* shape, int32_t rank);  // 3x32x32; ? for -1; "scalar"

// Bytes of the UTF-8 character that `text`, which is not empty, starts with; 0 when they are none (also overlong forms
// and surrogates).
size_t utf8_bytes(std::string_view text);

// ", did you mean 'x'?" when a name is near, else "".
std::string did_you_mean(std::string_view text, const std::vector<std::string>& names);

// Rows of cells in aligned columns, two spaces apart; the last column is wrapped at `width`. Each row ends in
// a newline.
std::string table_text(const std::vector<std::vector<std::string>>& rows, size_t width, size_t indent);

// One text, its lines from the second on indented by `hang`; without a last newline.
std::string wrapped_text(std::string_view text, size_t width, size_t hang);

// Columns of the terminal behind standard output; 100 where there is none.
size_t output_width();

}  // namespace dataline::cli
