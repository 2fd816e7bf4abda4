// SPDX-License-Identifier: Apache-2.0
#include "core/source/jsonl/jsonl.h"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "core/base/checked.h"
#include "core/source/documents/documents.h"
#include "core/source/flat_file.h"

namespace dataline {
namespace {

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
// A line holds more than the value that is wanted of it: names, other values, escapes of six bytes for one.
constexpr int64_t kLineToValue = 8;

uint64_t digest_of(const SortedTable& ends) {
  Digest digest;
  for (int64_t i = 0; i < ends.size(); ++i) digest.add(static_cast<uint64_t>(ends[i]));
  return digest.value();
}

// Whether the line is empty but for its end. Others that look blank are bad samples.
Result<bool> is_blank(const MappedFile& file, int64_t begin, int64_t end) {
  if (end - begin > 2) return false;
  std::array<char, 2> bytes{};
  DL_RETURN_IF_ERROR(file.read(begin, end - begin, reinterpret_cast<std::byte*>(bytes.data())));
  const std::string_view text(bytes.data(), static_cast<size_t>(end - begin));
  return text.find_first_not_of("\r\n") == std::string_view::npos;
}

Result<int64_t> bytes_before_text(const MappedFile& file) {
  std::array<char, 3> start{};
  if (file.bytes() < static_cast<int64_t>(start.size())) return 0;
  DL_RETURN_IF_ERROR(file.read(0, start.size(), reinterpret_cast<std::byte*>(start.data())));
  return std::string_view(start.data(), start.size()) == kByteOrderMark ? static_cast<int64_t>(start.size())
                                                                        : 0;
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

int64_t most_json_bytes(const JsonField& field, int64_t longest_line) {
  if (field.field.kind == FieldKind::kDense) return field.field.bytes();
  // A number takes two bytes at least, with its comma or bracket.
  return field.is_text ? longest_line : (longest_line / 2 + 1) * dtype_bytes(field.field.dtype);
}

JsonlFile::JsonlFile(MappedFile file, Schema schema, SourceInfo info, JsonLines lines, JsonRowPlan plan)
    : AdjacentRecords(std::move(file), std::move(schema), std::move(info), std::move(lines.lines)),
      longest_(lines.longest),
      plan_(std::move(plan)),
      ends_digest_(digest_of(records_.ends)) {}

int64_t JsonlFile::line_room(int64_t max_bytes_per_sample) const {
  if (file_.addressable()) return 0;
  // No overflow: a longest line is no longer than a file.
  const bool bounded = max_bytes_per_sample < longest_ / kLineToValue;
  return round_up(bounded ? max_bytes_per_sample * kLineToValue : longest_, kScratchAlignment);
}

int64_t JsonlFile::value_room(size_t field, int64_t max_bytes_per_sample) const {
  const JsonField& wanted = plan_.fields[field];
  const int64_t most = most_json_bytes(wanted, longest_);
  return wanted.field.kind == FieldKind::kDense ? most : std::min(most, max_bytes_per_sample);
}

int64_t JsonlFile::scratch_bytes(int64_t max_bytes_per_sample) const {
  int64_t bytes = line_room(max_bytes_per_sample);
  for (size_t f = 0; f < plan_.fields.size(); ++f)
    bytes += round_up(value_room(f, max_bytes_per_sample), kScratchAlignment);
  return bytes;
}

void JsonlFile::locate(Run& run) const {
  if (run.count == 0) return;
  const bool populate = !check_before(run.opened_ns) || run.cold;
  const int64_t stride = scratch_bytes(run.max_bytes_per_sample);
  for (size_t c = 0; c < plan_.fields.size(); ++c) run.columns[c].contiguous = false;
  JsonRowReader reader(plan_);
  for (int64_t i = 0; i < run.count; ++i) {
    Status status = read_row(run, i, populate, run.scratch + i * stride, reader);
    if (!status.is_ok()) run.fail(i, plan_.fields.size(), std::move(status));
  }
}

Status JsonlFile::read_row(Run& run, int64_t row, bool populate, std::byte* scratch,
                           JsonRowReader& reader) const {
  const int64_t index = run.indices[row];
  const FileExtent extent = extent_of(index);
  const char* text = nullptr;
  if (file_.addressable()) {
    if (populate) DL_RETURN_IF_ERROR(file_.populate(extent.offset, extent.bytes));
    text = reinterpret_cast<const char*>(file_.at(extent.offset));
  } else {
    const int64_t room = line_room(run.max_bytes_per_sample);
    if (extent.bytes > room) {
      return line_error(Code::kTooLarge, file_.path(), index + 1, "the line has ", extent.bytes,
                        " bytes, at most ", kLineToValue, " times max_bytes_per_sample, which is ",
                        run.max_bytes_per_sample);
    }
    DL_RETURN_IF_ERROR(file_.read(extent.offset, extent.bytes, scratch, run.cancelled));
    text = reinterpret_cast<const char*>(scratch);
    scratch += room;
  }
  std::array<JsonRoom, kMaxJsonFields> rooms;
  std::array<JsonCell, kMaxJsonFields> cells;
  const size_t count = plan_.fields.size();
  for (size_t f = 0; f < count; ++f) {
    const int64_t bytes = value_room(f, run.max_bytes_per_sample);
    rooms[f] = {scratch, bytes};
    scratch += round_up(bytes, kScratchAlignment);
  }
  const std::string_view line = without_line_end({text, static_cast<size_t>(extent.bytes)});
  JsonReader json(file_.path(), index + 1, line, "the line's end");
  Status status = reader.read(json, std::span(rooms).first(count), std::span(cells).first(count));
  if (!status.is_ok()) {
    DL_RETURN_IF_ERROR(check_unchanged(index));
    return status;
  }
  for (size_t f = 0; f < count; ++f) {
    run.columns[f].data[row] = cells[f].data;
    run.columns[f].bytes[row] = cells[f].bytes;
  }
  return Status::ok();
}

Place JsonlFile::place_of(int64_t index, size_t) const {
  return {file_.path(), concat("line ", index + 1, ", offset ", extent_of(index).offset)};
}

void JsonlFile::fingerprint(Digest& digest) const {
  fingerprint_schema(*this, digest);
  digest.add("jsonl");
  digest.add(static_cast<uint64_t>(file_.file_bytes()));
  digest.add(ends_digest_);
  digest.add(static_cast<uint64_t>(plan_.fill.has_value()));
  if (!plan_.fill) return;
  digest.add(std::bit_cast<uint64_t>(plan_.fill->number));
  digest.add(static_cast<uint64_t>(plan_.fill->whole.value_or(0)));
}

}  // namespace dataline
