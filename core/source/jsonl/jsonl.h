// JSON lines as a dataset: one object a line (RFC 8259), in UTF-8; its values by name are the fields of a sample.
//
// Where lines end is found once, at open, as fast as the file is read; a line is parsed when its sample is delivered, so a
// line that is no JSON is a bad sample and no more.
//
// Read: LF and CRLF, a byte order mark, a last line without its end. Blank lines, of spaces, tabs and line ends alone, are skipped.
// Threads: immutable after open; every function may be called from several workers at once.
// Memory: 4 bytes a line (SortedTable), 32 more for one that follows blank lines.
// Source: jsonlines.org
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/source/jsonl/json_row.h"
#include "core/source/text_records.h"

namespace dataline {

// The blank lines of a file, as they count in the numbers of the others.
class BlankLines {
 public:
  // Before record `index`; ascending.
  void add(int64_t index, int64_t lines);
  int64_t line_of(int64_t index) const;  // of a record, from 1

 private:
  struct Run {
    int64_t record, lines;  // lines: up to here, in all
  };
  std::vector<Run> runs_;
};

// Where the lines of a file are.
struct JsonLines {
  RecordEnds lines;     // with their ends; the first begins after a byte order mark
  BlankLines blanks;    // which are gaps between them
  int64_t longest = 0;  // bytes
};

// Without its end, so that what is read stays within the line.
inline std::string_view without_line_end(std::string_view line) {
  if (line.ends_with('\n')) line.remove_suffix(1);
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

// kCancelled, kUnsupported (UTF-16, UTF-32).
Result<JsonLines> find_json_lines(const MappedFile& file, const OpenContext& context);

class JsonlFile final : public TextRecords {
 public:
  JsonlFile(MappedFile file, Schema schema, SourceInfo info, JsonLines lines, JsonRowPlan plan);

  Place place_of(int64_t index, size_t column) const override;
  void identify(IdentityBuilder& identity) const override;

 private:
  Status read_values(int64_t index, std::string_view record, std::span<const ValueRoom> rooms,
                     std::span<ValueCell> cells) const override;

  const JsonRowPlan plan_;
  const BlankLines blanks_;
};

}  // namespace dataline
