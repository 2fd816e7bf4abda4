// SPDX-License-Identifier: Apache-2.0
#include "core/source/csv/csv_cells.h"

#include <algorithm>

namespace dataline {

bool CsvCells::take_quoted(CsvCell& out) {
  const size_t begin = at_ + 1;
  out = {{}, true, false};
  for (size_t from = begin;;) {
    const size_t quote = text_.find('"', from);
    if (quote == std::string_view::npos) return stop(CsvFault::kNeverClosed);
    const size_t behind = quote + 1;
    if (behind < text_.size() && text_[behind] == '"') {
      out.doubled = true;
      from = behind + 1;
      continue;
    }
    out.text = text_.substr(begin, quote - begin);
    at_ = behind;
    if (behind < text_.size() && text_[behind] != delimiter_) return stop(CsvFault::kAfterQuote);
    go_on(behind < text_.size() ? behind : std::string_view::npos);
    return true;
  }
}

size_t count_csv_cells(std::string_view record, char delimiter) {
  CsvCells cells(record, delimiter);
  size_t count = 0;
  for (CsvCell cell; cells.next(cell);) ++count;
  return count;
}

bool is_csv_word(std::string_view cell, std::string_view word) {
  return std::equal(cell.begin(), cell.end(), word.begin(), word.end(),
                    [](char c, char w) { return c == w || c == w - ('a' - 'A'); });
}

size_t write_undoubled(std::string_view text, std::span<char> room) {
  size_t bytes = 0;
  for (size_t at = 0; at < text.size(); ++at, ++bytes) {
    if (bytes < room.size()) room[bytes] = text[at];
    if (text[at] == '"') ++at;  // the second of a pair
  }
  return bytes;
}

std::string text_of_cell(const CsvCell& cell) {
  std::string out(cell.text);
  if (cell.doubled) out.resize(write_undoubled(cell.text, out));
  return out;
}

}  // namespace dataline
