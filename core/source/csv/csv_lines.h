// Where lines of comma-separated values end: at line feeds that are not within quotes. A text comes in pieces.
// Threads: one at a time.
// Cost: two memchr a line that has no quote.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace dataline {

// How many blanks the text begins with: spaces, tabs and carriage returns that are not delimiters. A line of nothing else is no
// record, as for pandas (skip_blank_lines) and in JSON lines.
inline size_t csv_blanks(std::string_view text, char delimiter) {
  const auto* const end = std::find_if(text.begin(), text.end(), [delimiter](char c) {
    return (c != ' ' && c != '\t' && c != '\r') || c == delimiter;
  });
  return static_cast<size_t>(end - text.begin());
}

class CsvLines {
 public:
  explicit CsvLines(char delimiter) : delimiter_(delimiter) {}

  // Calls `found(end, blank)` for each: the byte behind the line feed, from the first piece's first, and whether the line is blank.
  template <typename Found>
  void take(std::string_view piece, const Found& found) {
    if (piece.empty()) return;
    piece_ = piece;
    line_ = 0;
    next_quote_ = find('"', 0);
    for (size_t i = 0; i < piece.size();) i = step(i, found);
    at_ += static_cast<int64_t>(piece.size());
    blank_ = is_blank_to(piece.size());
  }
  int64_t taken() const { return at_; }
  bool blank() const { return blank_; }  // the line that the last piece does not end
  bool within_quotes() const { return state_ == State::kQuoted; }

 private:
  // kQuote: after a quote within quotes, which ends them, or is the first of a pair.
  enum class State { kCellBegin, kPlain, kQuoted, kQuote };

  size_t find(char c, size_t from) const { return std::min(piece_.find(c, from), piece_.size()); }

  template <typename Found>
  size_t step(size_t i, const Found& found) {
    if (state_ == State::kQuoted) {
      const size_t quote = find('"', i);
      if (quote == piece_.size()) return quote;
      state_ = State::kQuote;
      return quote + 1;
    }
    if (state_ == State::kQuote) {
      state_ = piece_[i] == '"' ? State::kQuoted : State::kPlain;
      if (state_ == State::kQuoted) return i + 1;
    }
    const size_t line_feed = find('\n', i);
    if (next_quote_ < i) next_quote_ = find('"', i);
    if (next_quote_ < line_feed) return meet_quote(i);
    if (line_feed == piece_.size()) {
      state_ = piece_.back() == delimiter_ ? State::kCellBegin : State::kPlain;
      return line_feed;
    }
    state_ = State::kCellBegin;
    const bool blank = is_blank_to(line_feed);
    line_ = line_feed + 1;
    blank_ = true;
    found(at_ + static_cast<int64_t>(line_feed) + 1, blank);
    return line_feed + 1;
  }

  // The line that begins at line_, or in a piece before. Others than blank ones end the search at their first byte.
  bool is_blank_to(size_t end) const {
    return blank_ && csv_blanks(piece_.substr(line_, end - line_), delimiter_) == end - line_;
  }

  size_t meet_quote(size_t i) {
    const bool begins =
        next_quote_ == i ? state_ == State::kCellBegin : piece_[next_quote_ - 1] == delimiter_;
    state_ = begins ? State::kQuoted : State::kPlain;
    return next_quote_ + 1;
  }

  const char delimiter_;
  State state_ = State::kCellBegin;
  std::string_view piece_;
  size_t next_quote_ = 0;  // in the piece; its size: none
  int64_t at_ = 0;         // of the piece in the text
  size_t line_ = 0;        // begins here in the piece
  bool blank_ = true;      // the line's part in the pieces before
};

}  // namespace dataline
