// Locale-independent parsing and formatting of numbers, sizes and shapes; suggestions for misspelt names.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dataline {

std::optional<int64_t> parse_i64(std::string_view text);   // decimal, optional '-', nothing else
std::optional<double> parse_f64(std::string_view text);    // decimal point in every locale
std::optional<int64_t> parse_size(std::string_view text);  // bytes: "4096", "64KiB", "1.5GiB"
std::optional<bool> parse_bool(std::string_view text);     // true false
std::optional<std::vector<int64_t>> parse_shape(std::string_view text);  // "3x32x32"
// "4000 wide, 6000 high": a picture's size in messages.
std::string picture_size(int64_t height, int64_t width);
std::string shape_text(std::span<const int64_t> shape);  // "3x32x32", "" for a scalar

std::vector<std::string_view> split(std::string_view text, char separator);
std::string_view trim(std::string_view text);  // spaces and tabs

// Removes the first character from `text`, which is not empty. Well-formed UTF-8 as in the Unicode standard, table 3-7; of
// anything else one byte is removed, and the result is kNotUtf8 plus its value (PEP 383).
constexpr uint32_t kNotUtf8 = 0xdc00;
uint32_t take_character(std::string_view& text);
// The first byte of `text` that is not UTF-8.
std::optional<size_t> find_no_utf8(std::string_view text);
bool is_utf8(std::string_view text);

// The name with the smallest edit distance to `text`; empty when more than a third, or every character, differs.
std::string_view nearest(std::string_view text, std::span<const std::string_view> names);
// ", did you mean 'x'?" or ""
std::string did_you_mean(std::string_view text, std::span<const std::string_view> names);

// Natural order, digit runs compared as numbers: "part-2" before "part-10".
bool natural_less(std::string_view a, std::string_view b);

}  // namespace dataline
