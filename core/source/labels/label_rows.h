// The rows of a label file, .csv or .jsonl.
//
// .csv: RFC 4180 (doubled quotes and line breaks inside quotes, CRLF or LF). A header line with the names path and label
// selects these columns among others; without a header there are exactly two columns. .jsonl: one JSON object (RFC 8259)
// per line with "path" and "label"; other keys are ignored. Blank lines are skipped in both. label_number.h states which labels are numbers.
// Failure: kCorrupt; messages begin with "FILE: line 7: " and give what was expected and what was found.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "core/base/message_text.h"
#include "core/base/status.h"

namespace dataline {

// One row of a label file. The views are valid during the call.
struct LabelRow {
  int64_t line = 0;  // where the row begins, from 1
  std::string_view path;
  std::string_view label;
  bool label_is_text = false;  // jsonl: a string, even if it looks like a number
};
using UseLabelRow = std::function<Status(const LabelRow&)>;

// Calls `use` for every row, until it returns an error. `name` is for messages.
Status each_csv_row(const std::string& name, std::string_view text, const UseLabelRow& use);
Status each_jsonl_row(const std::string& name, std::string_view text, const UseLabelRow& use);

// "FILE: line 7: ..."
template <typename... Parts>
Status line_error(Code code, const std::string& name, int64_t line, const Parts&... parts) {
  return error(code, name, ": line ", line, ": ", parts...);
}
// Text from a file, quoted, for messages: at most 64 bytes.
inline std::string shown_text(std::string_view text) { return printable(text, 64); }

}  // namespace dataline
