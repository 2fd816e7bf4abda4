// SPDX-License-Identifier: Apache-2.0
#include "core/source/jsonl/jsonl.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "core/source/documents/documents.h"
#include "core/source/file_window.h"
#include "core/source/flat_file.h"
#include "core/source/identity.h"
#include "core/source/text_encoding.h"

namespace dataline {
namespace {

// Of spaces, tabs and line ends alone. Other lines end the search in their first piece.
Result<bool> is_blank(FileWindow& window, int64_t begin, int64_t end) {
  constexpr int64_t kPieceBytes = 256;
  for (int64_t at = begin; at < end; at += kPieceBytes) {
    const int64_t count = std::min(end - at, kPieceBytes);
    DL_ASSIGN_OR_RETURN(const std::byte* const bytes, window.at(at, count));
    const std::string_view text(reinterpret_cast<const char*>(bytes), static_cast<size_t>(count));
    if (text.find_first_not_of(" \t\r\n") != std::string_view::npos) return false;
  }
  return true;
}

}  // namespace

void BlankLines::add(int64_t index, int64_t lines) {
  runs_.push_back({index, lines + (runs_.empty() ? 0 : runs_.back().lines)});
}

int64_t BlankLines::line_of(int64_t index) const {
  const auto after = std::upper_bound(runs_.begin(), runs_.end(), index,
                                      [](int64_t record, const Run& run) { return record < run.record; });
  return index + 1 + (after == runs_.begin() ? 0 : std::prev(after)->lines);
}

Result<JsonLines> find_json_lines(const MappedFile& file, const OpenContext& context) {
  DL_ASSIGN_OR_RETURN(const int64_t first, bytes_before_text(file));
  const TokenSpan bytes{DType::kU8, false, 0, file.bytes(), {}};
  DL_ASSIGN_OR_RETURN(const SortedTable found, find_ends(file, bytes, '\n', "lines", context));
  JsonLines out{{SortedTable(context.memory), first}, {}};
  FileWindow window(file);
  out.lines.ends.reserve(found.size());
  int64_t begin = first, blanks = 0;
  for (int64_t i = 0; i < found.size(); begin = found[i++]) {
    DL_ASSIGN_OR_RETURN(const bool blank, is_blank(window, begin, found[i]));
    if (blank) {
      ++blanks;
      continue;
    }
    if (blanks > 0) {
      const int64_t record = out.lines.count();
      out.blanks.add(record, std::exchange(blanks, 0));
      out.lines.gaps.push_back({record, begin - out.lines.boundary(record)});
    }
    out.longest = std::max(out.longest, found[i] - begin);
    out.lines.ends.add(found[i]);
  }
  return out;
}

JsonlFile::JsonlFile(MappedFile file, Schema schema, SourceInfo info, JsonLines lines, JsonRowPlan plan)
    : TextRecords(std::move(file), std::move(schema), std::move(info), std::move(lines.lines), lines.longest,
                  plan.fields),
      plan_(std::move(plan)),
      blanks_(std::move(lines.blanks)) {}

Status JsonlFile::read_values(int64_t index, std::string_view record, std::span<const ValueRoom> rooms,
                              std::span<ValueCell> cells) const {
  JsonReader json(file_.path(), blanks_.line_of(index), without_line_end(record), "the end of the line");
  return JsonRowReader(plan_).read(json, rooms, cells);
}

Place JsonlFile::place_of(int64_t index, size_t) const {
  return {file_.path(), concat("line ", blanks_.line_of(index), ", offset ", extent_of(index).offset)};
}

void JsonlFile::identify(IdentityBuilder& identity) const {
  identity.add_schema(*this);
  identity.add("jsonl");
  add_records(plan_.fill, identity);
}

}  // namespace dataline
