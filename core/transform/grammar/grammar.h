// The syntax of a transform: clauses, fields, operator calls and their values.
//
//   text   := clause (';' clause)*          only spaces: no clauses
//   clause := [field (',' field)* ':'] call (',' call)*
//   call   := name ['(' [argument (',' argument)*] ')']
//   argument := [name '='] value            none without a name after one with a name
//   value  := number | word | "text" | 3x32x32 | '[' [value (',' value)*] ']'
//
// A syntax tree borrows from the text, which must outlive it. Columns count bytes from 1.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/status.h"

namespace dataline {

enum class ValueKind { kNumber, kWord, kText, kShape, kList };

struct Value {
  ValueKind kind = ValueKind::kWord;
  int64_t column = 0;
  std::string_view text;       // as written; kText: without its quotes; kList: with its brackets
  double number = 0;           // kNumber
  std::vector<int64_t> shape;  // kShape: two dims or more
  std::vector<Value> items;    // kList: never lists
  bool tuple =
      false;  // a Python tuple or set, as written, without items: Arguments::bind() shows the list form
};

struct ArgumentSyntax {
  std::string_view name;  // empty: given without a name
  int64_t column = 0;
  Value value;
};

struct CallSyntax {
  std::string_view name;
  int64_t column = 0;
  std::string_view text;                  // as written, with its arguments
  std::vector<ArgumentSyntax> arguments;  // no name twice
};

struct FieldSyntax {
  std::string_view name;
  int64_t column = 0;
};

struct ClauseSyntax {
  int64_t column = 0;
  std::vector<FieldSyntax> fields;  // empty: the field is not named
  std::vector<CallSyntax> calls;    // one or more
};

Result<std::vector<ClauseSyntax>> parse_transforms(std::string_view text);
// One value at the beginning of `text`.
Result<Value> parse_value(std::string_view text);

std::string joined(std::span<const std::string_view> words);  // "one, two, three"
// 'text' for a message; long texts are cut.
std::string quote(std::string_view text);

// kBadTransform at a column: "transform: column 7: " before the parts.
template <typename... Parts>
Status transform_error(int64_t column, const Parts&... parts) {
  return error(Code::kBadTransform, "transform: column ", column, ": ", parts...).with_column(column);
}

}  // namespace dataline
