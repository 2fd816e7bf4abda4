// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "core/source/csv/csv_cells.h"
#include "core/source/csv/csv_lines.h"
#include "core/source/labels/label_rows.h"

namespace dataline {
namespace {

// Reads RFC 4180 records, and nothing that it does not allow.
class CsvReader {
 public:
  CsvReader(const std::string& name, std::string_view text) : name_(name), text_(text) {
    CsvLines(',').take(text, [this](int64_t end, bool) { ends_.push_back(static_cast<size_t>(end)); });
    if (ends_.empty() || ends_.back() < text.size()) ends_.push_back(text.size());
  }

  // False at the end of the text. The fields are valid until the next call.
  Result<bool> next() {
    if (begin_ == text_.size()) return false;
    record_ = text_.substr(begin_, ends_[next_] - begin_);
    begin_ = ends_[next_++];
    line_ += lines_;
    lines_ = std::count(record_.begin(), record_.end(), '\n');
    if (record_.ends_with('\n')) record_.remove_suffix(record_.ends_with("\r\n") ? 2 : 1);
    fields_.clear();
    CsvCells cells(record_, ',');
    for (CsvCell cell; cells.next(cell);) {
      if (!cell.quoted) DL_RETURN_IF_ERROR(check_plain(cell.text));
      fields_.push_back(text_of_cell(cell));
    }
    if (cells.fault() == CsvFault::kNeverClosed) {
      return line_error(Code::kCorrupt, name_, line_of(cells.rest()), "a quote is never closed");
    }
    if (cells.fault() == CsvFault::kAfterQuote) {
      return line_error(Code::kCorrupt, name_, line_of(cells.rest()),
                        "after a closing quote: expected a comma or the end of the line, got ",
                        printable_character(cells.rest()));
    }
    return true;
  }
  int64_t line() const { return line_; }
  std::span<const std::string> fields() const { return fields_; }
  bool is_blank() const {
    return fields_.size() == 1 && fields_[0].find_first_not_of(" \t") == std::string::npos;
  }

 private:
  // Of something in the record.
  int64_t line_of(std::string_view part) const {
    return line_ + std::count(record_.data(), part.data(), '\n');
  }

  Status check_plain(std::string_view cell) const {
    const size_t odd = cell.find_first_of("\r\"");
    if (odd == std::string_view::npos) return Status::ok();
    if (cell[odd] == '"') {
      return line_error(Code::kCorrupt, name_, line_of(cell), "a quote within an unquoted field ",
                        shown_text(cell.substr(0, odd)));
    }
    return line_error(Code::kCorrupt, name_, line_of(cell), "a carriage return without a line feed");
  }

  const std::string& name_;
  const std::string_view text_;
  std::vector<size_t> ends_;     // of records
  size_t next_ = 0, begin_ = 0;  // record, and where it begins
  std::string_view record_;
  int64_t line_ = 1, lines_ = 0;  // of the record: its first, and how many
  std::vector<std::string> fields_;
};

struct Columns {
  size_t count = 2;
  size_t path = 0;
  size_t label = 1;
};

// Finds the columns in a header line; without one there must be two. Returns whether this record is a header.
Result<bool> read_header(const std::string& name, const CsvReader& csv, Columns& columns) {
  constexpr size_t kNone = SIZE_MAX;
  size_t path = kNone, label = kNone;
  for (size_t i = 0; i < csv.fields().size(); ++i) {
    size_t* column = is_csv_word(csv.fields()[i], "path")    ? &path
                     : is_csv_word(csv.fields()[i], "label") ? &label
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

}  // namespace

Status each_csv_row(const std::string& name, std::string_view text, const UseLabelRow& use) {
  CsvReader csv(name, text);
  Columns columns;
  for (bool first = true;;) {
    DL_ASSIGN_OR_RETURN(bool more, csv.next());
    if (!more) return Status::ok();
    if (csv.is_blank()) continue;
    if (std::exchange(first, false)) {
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
