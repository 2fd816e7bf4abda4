// The format `jsonl`: its keys, and opening.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/text.h"
#include "core/source/compressed_file.h"
#include "core/source/files.h"
#include "core/source/format.h"
#include "core/source/jsonl/jsonl.h"
#include "core/source/null_masks.h"

namespace dataline {
namespace {

constexpr int64_t kMaxFirstLine = int64_t{64} << 20;  // is copied, to infer the fields from it
constexpr int64_t kMostTried = 1000;                  // lines of a damaged file, to infer the fields from one

struct JsonlOptions {
  std::vector<TextField> fields;  // empty: inferred
  std::optional<NullFill> fill = {};
  bool cut = false;  // a last line without its end is left out
};

Result<std::string> line_text(const MappedFile& file, const FileExtent& line) {
  std::string text(static_cast<size_t>(line.bytes), '\0');
  DL_RETURN_IF_ERROR(file.read(line.offset, line.bytes, reinterpret_cast<std::byte*>(text.data())));
  return text;
}

constexpr std::string_view kDeclare = "declare the fields, as in fields=text:text,label:i64";

Result<InferredJson> infer_from(const MappedFile& file, const JsonLines& lines, int64_t record) {
  const FileExtent extent = lines.lines.extent(record);
  const int64_t line = lines.blanks.line_of(record);
  if (extent.bytes > kMaxFirstLine) {
    return line_error(Code::kTooLarge, file.path(), line, "has ", extent.bytes,
                      " bytes: fields are inferred from at most ", kMaxFirstLine, "; ", kDeclare);
  }
  DL_ASSIGN_OR_RETURN(const std::string text, line_text(file, extent));
  return infer_json_fields(JsonReader(file.path(), line, without_line_end(text), "the end of the line"));
}

// `damaged`: from the first line that is JSON, not from the first one.
Result<std::vector<TextField>> infer_fields(const MappedFile& file, const JsonLines& lines, bool damaged,
                                            SourceInfo& info) {
  if (lines.lines.count() == 0)
    return error(without_records(info.notes), file.path(), ": no lines to infer fields from; ", kDeclare);
  int64_t record = 0;
  Result<InferredJson> first = infer_from(file, lines, 0);
  const int64_t tried = damaged ? std::min(kMostTried, lines.lines.count()) : 1;
  for (int64_t i = 1; i < tried && !first.is_ok() && first.status().code() == Code::kCorrupt; ++i) {
    Result<InferredJson> other = infer_from(file, lines, i);
    if (!other.is_ok()) continue;
    first = std::move(other);
    record = i;
  }
  DL_ASSIGN_OR_RETURN(InferredJson found, std::move(first));
  const int64_t line = lines.blanks.line_of(record);
  if (found.fields.empty()) {
    return line_error(Code::kUnsupported, file.path(), line, "no string, number or array of numbers in it; ",
                      kDeclare);
  }
  info.notes.push_back(concat("fields inferred from line ", line, ": fields=", text_of_fields(found.fields)));
  std::string left_out;
  for (const std::string& name : found.left_out) left_out += (left_out.empty() ? "" : ", ") + name;
  if (!left_out.empty()) info.notes.push_back(concat("left out of line ", line, ": ", left_out));
  return std::move(found.fields);
}

// A file that was cut ends within an object.
Status check_last_line(const MappedFile& file, const JsonLines& lines) {
  const int64_t last = lines.lines.count() - 1;
  if (last < 0) return Status::ok();
  const FileExtent line = lines.lines.extent(last);
  if (line.bytes > kMaxFirstLine) return Status::ok();
  DL_ASSIGN_OR_RETURN(const std::string text, line_text(file, line));
  if (text.ends_with('\n')) return Status::ok();
  JsonReader json(file.path(), lines.blanks.line_of(last), text, "the end of the line");
  if (json.skip_value().is_ok() && json.at_end()) return Status::ok();
  return error(Code::kTruncated, file.path(), ": offset ", line.offset, ": line ", lines.blanks.line_of(last),
               ", the last, ends inside its object after ", text.size(), " bytes");
}

Result<SourceRef> open_jsonl(const JsonlOptions& options, const std::string& path,
                             const OpenContext& context) {
  DL_ASSIGN_OR_RETURN(const FirstBytes start, read_first_bytes(path, context));
  DL_ASSIGN_OR_RETURN(MappedFile file, open_maybe_compressed(path, nullptr, context));
  DL_RETURN_IF_ERROR(refuse_other_kinds(file, "JSON lines"));
  SourceInfo info{"jsonl", "", {}};
  if (is_compressed(start.bytes())) info.notes.push_back(inflated_note(start.bytes(), file));
  DL_ASSIGN_OR_RETURN(JsonLines lines, find_json_lines(file, context));
  if (options.cut) DL_RETURN_IF_ERROR(drop_cut_record(file, lines.lines, info));
  DL_RETURN_IF_ERROR(check_last_line(file, lines));
  std::vector<TextField> fields = options.fields;
  if (fields.empty()) {
    DL_ASSIGN_OR_RETURN(fields, infer_fields(file, lines, options.cut, info));
  }
  for (const TextField& each : fields) {
    if (options.fill) DL_RETURN_IF_ERROR(check_fill(*options.fill, each.field));
  }
  DL_RETURN_IF_ERROR(file.load(context));
  std::vector<Field> schema;
  for (TextField& each : fields) {
    if (each.field.kind == FieldKind::kRagged) each.field.max_bytes = most_text_bytes(each, lines.longest);
    schema.push_back(each.field);
  }
  return with_null_masks(
      std::make_shared<JsonlFile>(std::move(file), column_per_field(std::move(schema)), std::move(info),
                                  std::move(lines), JsonRowPlan::of(std::move(fields), options.fill)),
      options.fill);
}

Result<OpenOne> configure_jsonl(const Uri& uri) {
  JsonlOptions options;
  if (const UriKey* key = uri.find("fields")) {
    DL_ASSIGN_OR_RETURN(options.fields, declared_text_fields(*key));
  }
  DL_ASSIGN_OR_RETURN(options.fill, read_nulls(uri));
  DL_ASSIGN_OR_RETURN(options.cut, uri_is(uri, kTextEndKey, "cut"));
  return OpenOne([options](const std::string& path, const OpenContext& context) {
    return open_jsonl(options, path, context);
  });
}

constexpr KeySpec kJsonlKeys[] = {
    {"fields", "FIELDS", "",
     "the values to deliver, as in text:text,label:i64,ids:i32[],box:f32[4],meta/lang:text; default: the "
     "values of the first line"},
    kNullsKey,
    kTextEndKey,
    kAxesKey};
constexpr std::string_view kJsonlSuffixes[] = {".jsonl",     ".ndjson",    ".jsonl.gz",
                                               ".ndjson.gz", ".jsonl.zst", ".ndjson.zst"};

}  // namespace

constinit const Format kJsonlFormat{
    .name = "jsonl",
    .doc =
        "one JSON object per line, plain, gzipped or compressed with Zstandard. Fields: the values by name, "
        "nested ones as meta/lang",
    .keys = kJsonlKeys,
    .configure = configure_jsonl,
    .ranges = true,
    .infers = true,
    .is_member = [](const std::string&, std::string_view name,
                    const OpenContext&) { return has_suffix(name, kJsonlSuffixes); },
    .members = "*.jsonl, *.ndjson, plain, .gz or .zst",
    .lists = true,
    .sniff =
        [](const FirstBytes& file) {
          const bool named = has_suffix(file.path, kJsonlSuffixes);
          return named && (file.text().starts_with('{') || is_compressed(file.bytes())) ? Sniff::kLikely
                                                                                        : Sniff::kNo;
        },
    .suffixes = kJsonlSuffixes,
};

}  // namespace dataline
