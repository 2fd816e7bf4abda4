// SPDX-License-Identifier: Apache-2.0
#include "core/source/jsonl/jsonl.h"

#include <algorithm>
#include <array>
#include <utility>

#include "core/source/documents/documents.h"
#include "core/source/flat_file.h"
#include "core/source/identity.h"

namespace dataline {
namespace {

// Whether the line is empty but for its end. Others that look blank are bad samples.
Result<bool> is_blank(const MappedFile& file, int64_t begin, int64_t end) {
  if (end - begin > 2) return false;
  std::array<char, 2> bytes{};
  DL_RETURN_IF_ERROR(file.read(begin, end - begin, reinterpret_cast<std::byte*>(bytes.data())));
  const std::string_view text(bytes.data(), static_cast<size_t>(end - begin));
  return text.find_first_not_of("\r\n") == std::string_view::npos;
}

}  // namespace

Result<JsonLines> find_json_lines(const MappedFile& file, const OpenContext& context) {
  const TokenSpan bytes{DType::kU8, false, 0, file.bytes(), {}};
  DL_ASSIGN_OR_RETURN(const SortedTable found, find_ends(file, bytes, '\n', "lines", context));
  DL_ASSIGN_OR_RETURN(const int64_t first, bytes_before_text(file));
  JsonLines out{{SortedTable(context.memory), first}};
  out.lines.ends.reserve(found.size());
  int64_t begin = first, blank = -1;
  for (int64_t i = 0; i < found.size(); begin = found[i++]) {
    DL_ASSIGN_OR_RETURN(const bool empty, is_blank(file, begin, found[i]));
    if (empty) {
      if (blank < 0) blank = i;
      continue;
    }
    if (blank >= 0) return line_error(Code::kCorrupt, file.path(), blank + 1, "a blank line among others");
    out.longest = std::max(out.longest, found[i] - begin);
    out.lines.ends.add(found[i]);
  }
  return out;
}

JsonlFile::JsonlFile(MappedFile file, Schema schema, SourceInfo info, JsonLines lines, JsonRowPlan plan)
    : TextRecords(std::move(file), std::move(schema), std::move(info), std::move(lines.lines), lines.longest,
                  plan.fields),
      plan_(std::move(plan)) {}

Status JsonlFile::read_values(int64_t index, std::string_view record, std::span<const ValueRoom> rooms,
                              std::span<ValueCell> cells) const {
  JsonReader json(file_.path(), index + 1, without_line_end(record), "the line's end");
  return JsonRowReader(plan_).read(json, rooms, cells);
}

Place JsonlFile::place_of(int64_t index, size_t) const {
  return {file_.path(), concat("line ", index + 1, ", offset ", extent_of(index).offset)};
}

void JsonlFile::identify(IdentityBuilder& identity) const {
  identity.add_schema(*this);
  identity.add("jsonl");
  add_records(plan_.fill, identity);
}

}  // namespace dataline
