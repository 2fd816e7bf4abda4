// The columns of a CSV file: their names, which of them the fields of a sample are made of, and their types.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/status.h"
#include "core/source/csv/csv_records.h"
#include "core/source/nulls.h"
#include "core/source/text_fields.h"
#include "core/source/uri.h"

namespace dataline {

constexpr size_t kMaxCsvColumns = size_t{1} << 18;

// What a record is read for. Made once, at open.
struct CsvPlan {
  // Where a cell goes: into a field, or nowhere.
  struct Target {
    int32_t field = -1;
    bool is_text = false;
    DType dtype = DType::kU8;
    int64_t offset = 0;  // bytes from the field's first item
  };
  char delimiter = ',';
  std::vector<std::string> names;  // of the columns
  std::vector<Target> targets;     // of the columns
  std::vector<TextField> fields;
  std::optional<NullFill> fill = {};
};

// The cells of a header. kCorrupt: damaged quotes, not UTF-8; kUnsupported: too many, lines that end with CR alone.
Result<std::vector<std::string>> csv_names(const std::string& path, std::string_view header, char delimiter);
// `column0`, `column1`, ..., where there is no header.
std::vector<std::string> numbered_names(size_t count);

// What `name:type` means here: a string or a number is the column of that name; name:DTYPE[SHAPE] that column and those after
// it, as many as the shape has. Puts the targets into the plan, which has names. kNoSuchField; kMismatch: there are fewer
// columns; kCorrupt: two columns of that name; kBadUri with `column`: any number of values, two fields of one column.
Status bind_csv_fields(const std::string& path, std::vector<TextField> fields, int64_t column, CsvPlan& plan);

// From cells of one column: true and false are bool; whole numbers i64, other numbers f64; anything else, and whole numbers
// that begin with 0 or exceed i64, text.
class CsvTypeGuess {
 public:
  void see(std::string_view cell);
  TextField field(std::string name) const;

 private:
  bool empty_ = true, words_ = true, whole_ = true, real_ = true;
};

// A field for each column whose name a field can have; `left_out` names others. kUnsupported: too many; kCorrupt: two of one name.
Result<std::vector<TextField>> inferred_csv_fields(const std::string& path, const CsvPlan& plan,
                                                   const std::vector<CsvTypeGuess>& guesses,
                                                   std::vector<std::string>& left_out);

// A cell as an element of the dtype; spaces around it do not count. kOk, kEmpty (no number), kCorrupt (none, or a fraction in an
// integer), kOutOfRange.
Code store_csv_value(DType dtype, std::string_view cell, std::byte* out);

}  // namespace dataline
