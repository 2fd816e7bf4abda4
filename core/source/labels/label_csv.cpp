// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <span>
#include <vector>

#include "core/source/labels/label_rows.h"

namespace dataline {
namespace {

// Reads RFC 4180 records.
class CsvReader {
 public:
  CsvReader(const std::string& name, std::string_view text) : name_(name), left_(text) {}

  // False at the end of the text. The fields are valid until the next call.
  Result<bool> next() {
    if (left_.empty()) return false;
    record_line_ = line_;
    field_count_ = 0;
    for (;;) {
      if (field_count_ == fields_.size()) fields_.emplace_back();
      std::string& field = fields_[field_count_++];
      field.clear();
      DL_RETURN_IF_ERROR(starts_with('"') ? read_quoted(field) : read_plain(field));
      if (left_.empty()) return true;
      if (take_line_end()) return true;
      left_.remove_prefix(1);  // the comma
    }
  }
  int64_t line() const { return record_line_; }
  std::span<const std::string> fields() const { return {fields_.data(), field_count_}; }
  bool is_blank() const { return field_count_ == 1 && fields_[0].empty(); }

 private:
  bool starts_with(char c) const { return !left_.empty() && left_.front() == c; }

  bool take_line_end() {
    size_t bytes = left_.starts_with("\r\n") ? 2 : starts_with('\n') ? 1 : 0;
    left_.remove_prefix(bytes);
    line_ += bytes > 0 ? 1 : 0;
    return bytes > 0;
  }

  Status read_plain(std::string& field) {
    size_t end = std::min(left_.find_first_of(",\r\n\""), left_.size());
    field = left_.substr(0, end);
    left_.remove_prefix(end);
    if (starts_with('"')) {
      return line_error(Code::kCorrupt, name_, line_, "a quote within an unquoted field ", shown_text(field));
    }
    if (starts_with('\r') && !left_.starts_with("\r\n")) {
      return line_error(Code::kCorrupt, name_, line_, "a carriage return without a line feed");
    }
    return Status::ok();
  }

  Status read_quoted(std::string& field) {
    const int64_t begin_line = line_;
    left_.remove_prefix(1);
    for (;;) {
      size_t quote = left_.find('"');
      if (quote == std::string_view::npos) {
        return line_error(Code::kCorrupt, name_, begin_line, "a quote is opened and never closed");
      }
      std::string_view piece = left_.substr(0, quote);
      line_ += std::count(piece.begin(), piece.end(), '\n');
      field += piece;
      left_.remove_prefix(quote + 1);
      if (!starts_with('"')) break;
      field += '"';
      left_.remove_prefix(1);
    }
    if (left_.empty() || starts_with(',') || starts_with('\n') || left_.starts_with("\r\n"))
      return Status::ok();
    return line_error(Code::kCorrupt, name_, line_,
                      "after a closing quote: expected a comma or the line's end, got ",
                      shown_text(left_.substr(0, 1)));
  }

  const std::string& name_;
  std::string_view left_;
  int64_t line_ = 1;
  int64_t record_line_ = 1;
  std::vector<std::string> fields_;
  size_t field_count_ = 0;
};

struct Columns {
  size_t count = 2;
  size_t path = 0;
  size_t label = 1;
};

bool same_word(std::string_view text, std::string_view word) {
  return std::equal(text.begin(), text.end(), word.begin(), word.end(),
                    [](char c, char w) { return c == w || c == w - ('a' - 'A'); });
}

// Finds the columns in a header line; without one there must be two. Returns whether this record is a header.
Result<bool> read_header(const std::string& name, const CsvReader& csv, Columns& columns) {
  constexpr size_t kNone = SIZE_MAX;
  size_t path = kNone, label = kNone;
  for (size_t i = 0; i < csv.fields().size(); ++i) {
    size_t* column = same_word(csv.fields()[i], "path")    ? &path
                     : same_word(csv.fields()[i], "label") ? &label
                                                           : nullptr;
    if (column == nullptr) continue;
    if (*column != kNone)
      return line_error(Code::kCorrupt, name, csv.line(), "two columns are called ", csv.fields()[i]);
    *column = i;
  }
  if (path != kNone && label != kNone) {
    columns = {csv.fields().size(), path, label};
    return true;
  }
  if (csv.fields().size() == 2) return false;
  return line_error(Code::kCorrupt, name, csv.line(),
                    "expected a header with the columns path and label, or two columns, got ",
                    csv.fields().size(), csv.fields().size() == 1 ? " column" : " columns");
}

Status check_only_blank(CsvReader& csv, const std::string& name, int64_t blank_line) {
  for (;;) {
    DL_ASSIGN_OR_RETURN(bool more, csv.next());
    if (!more) return Status::ok();
    if (!csv.is_blank()) return line_error(Code::kCorrupt, name, blank_line, "a blank line within the list");
  }
}

}  // namespace

Status each_csv_row(const std::string& name, std::string_view text, const UseLabelRow& use) {
  CsvReader csv(name, text);
  Columns columns;
  for (bool first = true;; first = false) {
    DL_ASSIGN_OR_RETURN(bool more, csv.next());
    if (!more) return Status::ok();
    if (csv.is_blank()) return check_only_blank(csv, name, csv.line());
    if (first) {
      DL_ASSIGN_OR_RETURN(bool header, read_header(name, csv, columns));
      if (header) continue;
    }
    if (csv.fields().size() != columns.count) {
      return line_error(Code::kCorrupt, name, csv.line(), "expected ", columns.count, " columns, got ",
                        csv.fields().size());
    }
    DL_RETURN_IF_ERROR(use({csv.line(), csv.fields()[columns.path], csv.fields()[columns.label], false}));
  }
}

}  // namespace dataline
