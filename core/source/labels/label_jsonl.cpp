// SPDX-License-Identifier: Apache-2.0
#include "core/source/json.h"
#include "core/source/labels/label_rows.h"

namespace dataline {
namespace {

Status read_label(JsonReader& json, std::string& label, bool& is_text) {
  is_text = json.peek() == '"';
  if (is_text) return json.read_string(label);
  std::string_view number;
  bool whole = false;
  if (std::string_view("-0123456789").find(json.peek()) == std::string_view::npos) {
    return json.expected("a label: an integer or a name in quotes");
  }
  DL_RETURN_IF_ERROR(json.read_number(number, whole));
  label = number;
  return Status::ok();
}

// One object with "path" and "label", and nothing else on the line.
Status read_row(JsonReader json, std::string& path, std::string& label, bool& label_is_text) {
  bool has_path = false, has_label = false;
  DL_RETURN_IF_ERROR(json.each_member([&](const std::string& key) -> Status {
    if (key != "path" && key != "label") return json.skip_value();
    bool& seen = key == "path" ? has_path : has_label;
    if (seen) return json.refuse("the key ", key, " appears twice");
    seen = true;
    return key == "path" ? json.read_string(path) : read_label(json, label, label_is_text);
  }));
  if (!json.at_end()) return json.expected("the end of the line");
  if (!has_path || !has_label)
    return json.refuse("expected the keys path and label, ", has_path ? "label" : "path", " is missing");
  return Status::ok();
}

}  // namespace

Status each_jsonl_row(const std::string& name, std::string_view text, const UseLabelRow& use) {
  std::string path, label;
  for (int64_t line = 1; !text.empty(); ++line) {
    size_t end = text.find('\n');
    std::string_view row = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (row.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    bool label_is_text = false;
    DL_RETURN_IF_ERROR(
        read_row(JsonReader(name, line, row, "the end of the line"), path, label, label_is_text));
    DL_RETURN_IF_ERROR(use({line, path, label, label_is_text}));
  }
  return Status::ok();
}

}  // namespace dataline
