// SPDX-License-Identifier: Apache-2.0
#include "core/source/csv/csv_columns.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <utility>

#include "core/base/name_text.h"
#include "core/base/text.h"
#include "core/source/csv/csv_cells.h"
#include "core/source/files.h"

namespace dataline {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Without the plus that from_chars() does not take.
std::string_view unsigned_text(std::string_view text) {
  if (text.starts_with('+') && text.size() > 1 && (is_digit(text[1]) || text[1] == '.'))
    text.remove_prefix(1);
  return text;
}

bool is_whole(std::string_view text) {
  if (text.starts_with('-')) text.remove_prefix(1);
  return !text.empty() && std::all_of(text.begin(), text.end(), is_digit);
}

// Whole numbers of at most 18 digits, which most are, without another pass.
std::optional<int64_t> short_whole(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative) text.remove_prefix(1);
  if (text.empty() || text.size() > 18) return std::nullopt;
  int64_t value = 0;
  for (const char c : text) {
    if (!is_digit(c)) return std::nullopt;
    value = value * 10 + (c - '0');
  }
  return negative ? -value : value;
}

// nan and inf as floats; nothing for numbers.
std::optional<double> special_float(std::string_view text) {
  double value = 0;
  const auto [stop, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failure != std::errc() || stop != text.data() + text.size() || std::isfinite(value))
    return std::nullopt;
  return value;
}

bool is_number(std::string_view text) {
  double value = 0;
  const auto [stop, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  return stop == text.data() + text.size() && stop != text.data() && failure != std::errc::invalid_argument;
}

bool can_be_field(std::string_view name) {
  return !name.empty() && name.size() <= kMaxTextFieldName && is_name_text(name);
}

Result<size_t> column_of(const std::string& path, const std::string& name, const CsvPlan& plan) {
  const auto found = std::find(plan.names.begin(), plan.names.end(), name);
  if (found == plan.names.end()) {
    const std::vector<std::string_view> names(plan.names.begin(), plan.names.end());
    return no_such_field(path + ": ", "column", name, names);
  }
  if (std::find(found + 1, plan.names.end(), name) != plan.names.end())
    return error(Code::kCorrupt, path, ": two columns are called '", name, "'");
  return static_cast<size_t>(found - plan.names.begin());
}

int64_t columns_of(const Field& field) {
  int64_t count = 1;
  for (const int64_t dim : field.shape) count *= dim;
  return count;
}

}  // namespace

Result<std::vector<std::string>> csv_names(const std::string& path, std::string_view header, char delimiter) {
  const size_t count = count_csv_cells(header, delimiter);
  if (count > kMaxCsvColumns)
    return error(Code::kUnsupported, path, ": header: ", count, " columns, at most ", kMaxCsvColumns);
  std::vector<std::string> names;
  names.reserve(count);
  CsvCells cells(header, delimiter);
  for (CsvCell cell; cells.next(cell);) {
    if (!cell.quoted && cell.text.find('\r') != std::string_view::npos) {
      return error(Code::kUnsupported, path, ": header: a carriage return in column ", names.size() + 1,
                   ": expected lines that end with a line feed");
    }
    names.push_back(text_of_cell(cell));
    if (!is_utf8(names.back()))
      return error(Code::kCorrupt, path, ": header: the name of column ", names.size(), " is not UTF-8");
  }
  if (cells.fault() != CsvFault::kNone) {
    return error(Code::kCorrupt, path, ": header: after the closing quote of column ", names.size() + 1,
                 ": expected '", std::string_view(&delimiter, 1), "' or the end, got ",
                 printable_character(cells.rest()));
  }
  return names;
}

std::vector<std::string> numbered_names(size_t count) {
  std::vector<std::string> names;
  for (size_t i = 0; i < count; ++i) names.push_back("column" + std::to_string(i));
  return names;
}

Status bind_csv_fields(const std::string& path, std::vector<TextField> fields, int64_t column,
                       CsvPlan& plan) {
  plan.targets.assign(plan.names.size(), {});
  for (size_t f = 0; f < fields.size(); ++f) {
    const TextField& wanted = fields[f];
    if (!wanted.is_text && wanted.field.kind == FieldKind::kRagged) {
      return uri_error(column, "field '", wanted.field.name,
                       "': a cell holds one value, expected a type without [], or a shape of columns");
    }
    DL_ASSIGN_OR_RETURN(const size_t first, column_of(path, wanted.field.name, plan));
    const int64_t count = wanted.is_text ? 1 : columns_of(wanted.field);
    if (count > static_cast<int64_t>(plan.names.size() - first)) {
      return error(Code::kMismatch, path, ": field '", wanted.field.name, "' takes ", count,
                   " columns from number ", first + 1, ", but there are ", plan.names.size());
    }
    for (int64_t item = 0; item < count; ++item) {
      CsvPlan::Target& target = plan.targets[first + static_cast<size_t>(item)];
      if (target.field >= 0) {
        return uri_error(column, "column '", plan.names[first + static_cast<size_t>(item)],
                         "' is in the fields '", fields[static_cast<size_t>(target.field)].field.name,
                         "' and '", wanted.field.name, "'");
      }
      const DType dtype = wanted.field.dtype;
      target = {static_cast<int32_t>(f), wanted.is_text, dtype, item * dtype_bytes(dtype)};
    }
  }
  plan.fields = std::move(fields);
  return Status::ok();
}

void CsvTypeGuess::see(std::string_view cell) {
  const std::string_view text = unsigned_text(trim(cell));
  if (text.empty()) return;
  const std::string_view digits = text.substr(text.starts_with('-') ? 1 : 0);
  const bool whole = is_whole(text), padded = digits.size() > 1 && digits[0] == '0' && is_digit(digits[1]);
  empty_ = false;
  words_ = words_ && (is_csv_word(text, "true") || is_csv_word(text, "false"));
  whole_ = whole_ && whole && !padded && parse_i64(text).has_value();
  real_ = real_ && !padded && (whole ? parse_i64(text).has_value() : is_number(text));
}

TextField CsvTypeGuess::field(std::string name) const {
  if (empty_ || !(words_ || real_)) return {text_field(std::move(name)), true};
  const DType dtype = words_ ? DType::kBool : whole_ ? DType::kI64 : DType::kF64;
  return {{std::move(name), FieldKind::kDense, dtype, {}, "", -1}};
}

Result<std::vector<TextField>> inferred_csv_fields(const std::string& path, const CsvPlan& plan,
                                                   const std::vector<CsvTypeGuess>& guesses,
                                                   std::vector<std::string>& left_out) {
  std::vector<TextField> fields;
  for (size_t c = 0; c < plan.names.size(); ++c) {
    if (!can_be_field(plan.names[c])) {
      left_out.push_back(concat("column ", c + 1, ", whose name cannot name a field"));
      continue;
    }
    if (fields.size() == kMaxTextFields) {
      return error(
          Code::kUnsupported, path, ": ", plan.names.size(), " columns, and at most ", kMaxTextFields,
          " fields; name the columns you want, several as one array: fields=label:i64,pixel0:u8[784]");
    }
    fields.push_back(guesses[c].field(plan.names[c]));
  }
  return fields;
}

Code store_csv_value(DType dtype, std::string_view cell, std::byte* out) {
  if (dtype >= DType::kU8 && dtype <= DType::kI64) {
    if (const std::optional<int64_t> value = short_whole(cell))
      return store_whole(dtype, *value, out) ? Code::kOk : Code::kOutOfRange;
  }
  const std::string_view text = unsigned_text(trim(cell));
  if (text.empty()) return Code::kEmpty;
  if (dtype == DType::kBool) {
    const bool yes = is_csv_word(text, "true") || text == "1";
    if (!yes && !is_csv_word(text, "false") && text != "0") return Code::kCorrupt;
    *out = std::byte{yes};
    return Code::kOk;
  }
  const bool whole = is_whole(text);
  if (!whole && dtype_is_integer(dtype)) return Code::kCorrupt;
  if (store_number(dtype, text, whole, out)) return Code::kOk;
  if (whole || !is_number(text)) return whole ? Code::kOutOfRange : Code::kCorrupt;
  const std::optional<double> special = special_float(text);
  if (!special) return Code::kOutOfRange;
  const auto narrow = static_cast<float>(*special);
  std::memcpy(out, dtype == DType::kF32 ? static_cast<const void*>(&narrow) : &*special,
              static_cast<size_t>(dtype_bytes(dtype)));
  return Code::kOk;
}

}  // namespace dataline
