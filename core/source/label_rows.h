// The rows of a label file, .csv or .jsonl.
//
// .csv: RFC 4180 (quotes doubled inside quotes, line ends within them, CRLF or LF); columns path and label, by a header
// line that has both names (then others may stand beside them), or two columns without one. .jsonl: one JSON object
// (RFC 8259) a line, with "path" and "label"; other keys are passed over.
// Failure: errors begin with "FILE: line 7: " and say what was expected and what is there. kCorrupt: the text.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "core/base/status.h"

namespace dataline {

// One line's worth of a label file; views live for the call.
struct LabelRow {
  int64_t line = 0;  // where it begins, from 1
  std::string_view path;
  std::string_view label;      // its text
  bool label_is_text = false;  // jsonl: a string, whatever it looks like
};
using UseLabelRow = std::function<Status(const LabelRow&)>;

// Calls `use` for every row; its status, or kCorrupt for text that is none. `name` is for messages.
Status each_csv_row(const std::string& name, std::string_view text, const UseLabelRow& use);
Status each_jsonl_row(const std::string& name, std::string_view text, const UseLabelRow& use);

// "FILE: line 7: ..."
template <typename... Parts>
Status line_error(Code code, const std::string& name, int64_t line, const Parts&... parts) {
  return error(code, name, ": line ", line, ": ", parts...);
}
// Quoted text of a file, for messages: control characters as '?', cut after 64 bytes.
std::string shown_text(std::string_view text);

}  // namespace dataline
