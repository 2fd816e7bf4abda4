// Any bytes as a list of labels, .csv and .jsonl: refused with a line that the text has, or its rows, printed as a list
// of either kind, are read again as the same rows.
// SPDX-License-Identifier: Apache-2.0
#include "core/base/text.h"
#include "core/source/labels/label_rows.h"
#include "tests/fuzz/fuzz_file.h"
#include "tests/fuzz/target.h"

namespace dataline::fuzz {
namespace {

struct Row {
  std::string path, label;
  bool is_text = false;
  bool operator==(const Row&) const = default;
};
struct List {
  std::vector<Row> rows;
  Status status;
};

using Reader = Status (*)(const std::string&, std::string_view, const UseLabelRow&);

List read(Reader reader, std::string_view text) {
  List out;
  int64_t last = 0;
  const int64_t lines = std::count(text.begin(), text.end(), '\n') + 1;
  out.status = reader("fuzz.list", text, [&](const LabelRow& row) {
    check(row.line > last && row.line <= lines, "rows come line by line");
    last = row.line;
    out.rows.push_back({std::string(row.path), std::string(row.label), row.label_is_text});
    return Status::ok();
  });
  if (out.status.is_ok()) return out;
  check(out.status.code() == Code::kCorrupt, "text that is no list is kCorrupt", out.status.message());
  const std::string refusal = out.status.message();
  std::string_view message = refusal;
  check(message.starts_with("fuzz.list: line "), "a refusal names file and line", message);
  message.remove_prefix(16);
  const auto line = parse_i64(message.substr(0, message.find(':')));
  check(line && *line >= 1 && *line <= lines, "the line is one of the text", out.status.message());
  for (char c : out.status.message())
    check(c == '\t' || static_cast<unsigned char>(c) >= 32, "a message is one line of text");
  return out;
}

std::string as_csv(const std::vector<Row>& rows) {
  const auto quoted = [](std::string_view text) {
    std::string out = "\"";
    for (char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
    return out + "\"";
  };
  std::string out = "path,label\n";
  for (const Row& row : rows) out += quoted(row.path) + "," + quoted(row.label) + "\r\n";
  return out;
}

std::string as_jsonl(const std::vector<Row>& rows) {
  const auto quoted = [](std::string_view text) {
    std::string out = "\"";
    for (char c : text) {
      const auto byte = static_cast<unsigned char>(c);
      char escape[8];
      std::snprintf(escape, sizeof escape, "\\u%04x", byte);
      out += byte < 32               ? std::string(escape)
             : c == '"' || c == '\\' ? std::string("\\") + c
                                     : std::string(1, c);
    }
    return out + "\"";
  };
  std::string out;
  for (const Row& row : rows) {
    out +=
        "{\"other\": [null, {\"a\": -1.5e3}], \"label\": " + (row.is_text ? quoted(row.label) : row.label) +
        ", \"path\": " + quoted(row.path) + "}\n";
  }
  return out;
}

void check_again(const std::vector<Row>& rows) {
  std::vector<Row> plain = rows;
  for (Row& row : plain) row.is_text = false;
  const List csv = read(each_csv_row, as_csv(rows));
  check(csv.status.is_ok() && csv.rows == plain, "printed as .csv the rows are the same",
        csv.status.message());
  for (Row& row : plain) row.is_text = true;
  const List jsonl = read(each_jsonl_row, as_jsonl(plain));
  check(jsonl.status.is_ok() && jsonl.rows == plain, "printed as .jsonl the rows are the same",
        jsonl.status.message());
}

void run(std::string_view text) {
  const List csv = read(each_csv_row, text);
  if (csv.status.is_ok()) check_again(csv.rows);
  const List jsonl = read(each_jsonl_row, text);
  if (!jsonl.status.is_ok()) return;
  check_again(jsonl.rows);
  const List again = read(each_jsonl_row, as_jsonl(jsonl.rows));
  check(again.status.is_ok() && again.rows == jsonl.rows, "numbers stay numbers", again.status.message());
}

const Target kTarget("labels", run);

}  // namespace
}  // namespace dataline::fuzz
