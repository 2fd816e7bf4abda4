// The cells of one record of comma-separated values.
//
// A cell that begins with a quote goes on to its closing quote, over delimiters and line ends; two quotes in it stand for one. A
// quote anywhere else is text, as in Python's csv.
// Threads: one at a time.
// Source: RFC 4180
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace dataline {

struct CsvCell {
  std::string_view text;  // without the quotes around it
  bool quoted = false;
  bool doubled = false;  // pairs of quotes in it stand for one each
};

enum class CsvFault { kNone, kNeverClosed, kAfterQuote };

class CsvCells {
 public:
  // `record`: without its line end.
  CsvCells(std::string_view record, char delimiter) : text_(record), delimiter_(delimiter) {}

  // False when there is no other cell, or the next one is damaged: fault() says which.
  bool next(CsvCell& out) {
    if (done_) return false;
    if (at_ < text_.size() && text_[at_] == '"') return take_quoted(out);
    const size_t end = find_delimiter();
    out = {text_.substr(at_, end - at_), false, false};
    go_on(end);
    return true;
  }
  CsvFault fault() const { return fault_; }
  // What stands after a closing quote.
  std::string_view rest() const { return text_.substr(at_); }

 private:
  bool take_quoted(CsvCell& out);
  // Most cells are short: a call costs more than to look at them.
  size_t find_delimiter() const {
    const size_t near = std::min(text_.size(), at_ + 16);
    for (size_t i = at_; i < near; ++i) {
      if (text_[i] == delimiter_) return i;
    }
    return text_.find(delimiter_, near);
  }
  void go_on(size_t end) {
    done_ = end == std::string_view::npos;
    at_ = end + 1;
  }
  bool stop(CsvFault fault) {
    done_ = true;
    fault_ = fault;
    return false;
  }

  const std::string_view text_;
  const char delimiter_;
  size_t at_ = 0;
  bool done_ = false;
  CsvFault fault_ = CsvFault::kNone;
};

// How many cells a record has, up to one that is damaged.
size_t count_csv_cells(std::string_view record, char delimiter);

// Whether a cell is this word of lower case letters, in any case.
bool is_csv_word(std::string_view cell, std::string_view word);

// The text that a cell with doubled quotes stands for: as much of it as `room` holds. Returns how long it is.
size_t write_undoubled(std::string_view text, std::span<char> room);
std::string text_of_cell(const CsvCell& cell);

}  // namespace dataline
