// SPDX-License-Identifier: Apache-2.0
#include "core/source/shard_ranges.h"

#include <algorithm>
#include <optional>

#include "core/base/text.h"
#include "core/source/uri.h"

namespace dataline {
namespace {

constexpr size_t kMaxDigits = 18;  // fits an int64

struct NumberRange {
  int64_t first, last;
  size_t width;  // 0: as short as it is
};

bool is_number(std::string_view text) {
  return !text.empty() && text.size() <= kMaxDigits &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// `text` is what stands between the braces.
Result<NumberRange> parse_range(std::string_view text, int64_t column) {
  const size_t dots = text.find("..");
  const std::string_view low = text.substr(0, dots);
  const std::string_view high = dots == std::string_view::npos ? std::string_view() : text.substr(dots + 2);
  if (!is_number(low) || !is_number(high)) {
    return uri_error(column, "'{", text,
                     "}': expected two numbers, as in {000..127}; a literal brace is written %7B");
  }
  const bool padded = (low.size() > 1 && low[0] == '0') || (high.size() > 1 && high[0] == '0');
  const NumberRange range{*parse_i64(low), *parse_i64(high), padded ? std::max(low.size(), high.size()) : 0};
  if (range.first > range.last)
    return uri_error(column, "'{", text, "}' counts down; write the smaller number first");
  return range;
}

std::string padded_number(int64_t value, size_t width) {
  std::string digits = std::to_string(value);
  return digits.size() < width ? std::string(width - digits.size(), '0') + digits : digits;
}

// Each of `starts` continued by each number of the range.
Result<std::vector<std::string>> multiply(const std::vector<std::string>& starts, const NumberRange& range,
                                          int64_t column) {
  const int64_t numbers = range.last - range.first;  // less one
  if (numbers >= kMaxRangeFiles / static_cast<int64_t>(starts.size())) {
    return uri_error(column, "more than ", kMaxRangeFiles, " files");
  }
  std::vector<std::string> out;
  out.reserve(starts.size() * static_cast<size_t>(numbers + 1));
  for (const std::string& start : starts) {
    for (int64_t value = range.first; value <= range.last; ++value)
      out.push_back(start + padded_number(value, range.width));
  }
  return out;
}

}  // namespace

Result<std::vector<std::string>> expand_ranges(std::string_view text, int64_t column) {
  std::vector<std::string> paths{""};
  for (size_t at = 0; at < text.size();) {
    const size_t brace = std::min(text.find_first_of("{}", at), text.size());
    DL_ASSIGN_OR_RETURN(std::string literal,
                        uri_decode(text.substr(at, brace - at), column + static_cast<int64_t>(at)));
    for (std::string& path : paths) path += literal;
    if (brace == text.size()) break;
    const int64_t here = column + static_cast<int64_t>(brace);
    const size_t end = text.find_first_of("{}", brace + 1);
    if (text[brace] == '}')
      return uri_error(here, "'}' without '{' before it; a literal brace is written %7D");
    if (end == std::string_view::npos) {
      return uri_error(here, "'{' without '}' in the same path; a literal brace is written %7B");
    }
    if (text[end] == '{')
      return uri_error(column + static_cast<int64_t>(end), "a '{' inside braces; ranges do not nest");
    DL_ASSIGN_OR_RETURN(NumberRange range, parse_range(text.substr(brace + 1, end - brace - 1), here));
    DL_ASSIGN_OR_RETURN(paths, multiply(paths, range, here));
    at = end + 1;
  }
  return paths;
}

}  // namespace dataline
