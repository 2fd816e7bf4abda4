// SPDX-License-Identifier: Apache-2.0
// Brace ranges in a path of a URI.
#include <algorithm>
#include <utility>
#include <vector>

#include "core/base/text.h"
#include "core/source/uri.h"

namespace dataline {
namespace {

constexpr size_t kMaxDigits = 18;  // fits an int64
constexpr int64_t kMaxRangeBytes = int64_t{256} << 20;

struct NumberRange {
  int64_t first, last;
  size_t width;  // minimum number of digits; 0: no padding
};

bool is_number(std::string_view text) {
  return !text.empty() && text.size() <= kMaxDigits &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// `text` is what is between the braces.
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

// A literal, followed by a range except in the last piece.
struct NamePiece {
  std::string literal;
  NumberRange range{0, 0, 0};
  bool has_range = false;
  int64_t column = 0;  // of the range
};

Result<std::vector<NamePiece>> parse_pieces(std::string_view text, int64_t column) {
  std::vector<NamePiece> pieces;
  for (size_t at = 0;;) {
    NamePiece& piece = pieces.emplace_back();
    const size_t brace = std::min(text.find_first_of("{}", at), text.size());
    DL_ASSIGN_OR_RETURN(piece.literal,
                        uri_decode(text.substr(at, brace - at), column + static_cast<int64_t>(at)));
    if (brace == text.size()) return pieces;
    const int64_t here = column + static_cast<int64_t>(brace);
    const size_t end = text.find_first_of("{}", brace + 1);
    if (text[brace] == '}')
      return uri_error(here, "'}' without '{' before it; a literal brace is written %7D");
    if (end == std::string_view::npos) {
      return uri_error(here, "'{' without '}' in the same path; a literal brace is written %7B");
    }
    if (text[end] == '{')
      return uri_error(column + static_cast<int64_t>(end), "a '{' inside braces; ranges do not nest");
    DL_ASSIGN_OR_RETURN(piece.range, parse_range(text.substr(brace + 1, end - brace - 1), here));
    piece.has_range = true;
    piece.column = here;
    at = end + 1;
  }
}

// How many names the pieces stand for.
Result<int64_t> count_names(const std::vector<NamePiece>& pieces, int64_t column) {
  int64_t names = 1, bytes = 0;
  for (const NamePiece& piece : pieces) {
    bytes += static_cast<int64_t>(piece.literal.size());
    if (!piece.has_range) continue;
    const int64_t steps = piece.range.last - piece.range.first;
    if (steps >= kMaxRangeFiles / names)
      return uri_error(piece.column, "more than ", kMaxRangeFiles, " files");
    names *= steps + 1;
    bytes += static_cast<int64_t>(kMaxDigits);
  }
  if (names > 1 && bytes > kMaxRangeBytes / names) {
    return uri_error(column, names, " names of up to ", bytes, " bytes; at most ", kMaxRangeBytes, " in all");
  }
  return names;
}

}  // namespace

Result<std::vector<std::string>> expand_ranges(std::string_view text, int64_t column) {
  DL_ASSIGN_OR_RETURN(const std::vector<NamePiece> pieces, parse_pieces(text, column));
  DL_ASSIGN_OR_RETURN(const int64_t names, count_names(pieces, column));
  std::vector<std::string> paths{""};
  paths.reserve(static_cast<size_t>(names));
  for (const NamePiece& piece : pieces) {
    for (std::string& path : paths) path += piece.literal;
    if (!piece.has_range) break;
    std::vector<std::string> longer;
    longer.reserve(static_cast<size_t>(names));
    for (const std::string& path : paths) {
      for (int64_t value = piece.range.first; value <= piece.range.last; ++value)
        longer.push_back(path + padded_number(value, piece.range.width));
    }
    paths = std::move(longer);
  }
  return paths;
}

}  // namespace dataline
