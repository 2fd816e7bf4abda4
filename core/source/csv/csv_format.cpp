// The format `csv`: its keys, what is inferred, and opening.
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
#include "core/source/csv/csv.h"
#include "core/source/csv/csv_cells.h"
#include "core/source/files.h"
#include "core/source/format.h"
#include "core/source/null_masks.h"

namespace dataline {
namespace {

// What the types of columns are inferred from.
constexpr int64_t kSeenRecords = 1000, kSeenBytes = int64_t{1} << 20;
constexpr int64_t kMaxFirstRecord = int64_t{64} << 20;  // is copied, to infer the fields from it

constexpr KeySpec kDelimiter{"delimiter", "comma|tab|semicolon|pipe", "",
                             "the separator of cells; default: tab in .tsv, else comma"};
constexpr KeySpec kHeader{"header", "true|false", "true",
                          "the first record names the columns; false: their names are column0, column1, ..."};
constexpr std::string_view kTabSuffixes[] = {".tsv", ".tsv.gz", ".tsv.zst"};

struct CsvOptions {
  std::optional<char> delimiter = {};  // nothing: by the file's name
  bool header = true;
  std::vector<TextField> fields;  // empty: inferred
  int64_t fields_column = 0;
  std::optional<NullFill> fill = {};
  bool cut = false;
};

// Text of the first records, whole ones, and how many they are.
struct Head {
  std::string text;
  int64_t origin = 0;
  int64_t count = 0;
};

Result<Head> read_head(const MappedFile& file, const RecordEnds& records, int64_t most) {
  if (most > 0 && records.count() > 0 && records.extent(0).bytes > kMaxFirstRecord) {
    return error(Code::kTooLarge, file.path(), ": record 0, offset ", records.extent(0).offset, ": has ",
                 records.extent(0).bytes, " bytes: columns are inferred from at most ", kMaxFirstRecord);
  }
  Head head;
  head.origin = records.boundary(0);
  int64_t end = head.origin;
  for (; head.count < std::min(records.count(), most); ++head.count) {
    const int64_t next = records.boundary(head.count + 1);
    if (next - head.origin > kSeenBytes && head.count > 0) break;
    end = next;
  }
  head.text.resize(static_cast<size_t>(end - head.origin));
  DL_RETURN_IF_ERROR(
      file.read(head.origin, end - head.origin, reinterpret_cast<std::byte*>(head.text.data())));
  return head;
}

std::string_view record_of(const Head& head, const RecordEnds& records, int64_t i, char delimiter) {
  const FileExtent extent = records.extent(i);
  return csv_record_text(std::string_view(head.text).substr(static_cast<size_t>(extent.offset - head.origin),
                                                            static_cast<size_t>(extent.bytes)),
                         delimiter);
}

// A file that was cut in a record, not in a quote.
Status check_last(const MappedFile& file, const CsvRecords& found, const CsvPlan& plan) {
  const int64_t last = found.records.count() - 1;
  if (last < 0) return Status::ok();
  const FileExtent extent = found.records.extent(last);
  if (extent.bytes > kSeenBytes) return Status::ok();
  std::string text(static_cast<size_t>(extent.bytes), '\0');
  DL_RETURN_IF_ERROR(file.read(extent.offset, extent.bytes, reinterpret_cast<std::byte*>(text.data())));
  if (text.ends_with('\n')) return Status::ok();
  const size_t cells = count_csv_cells(csv_record_text(text, plan.delimiter), plan.delimiter);
  if (cells >= plan.names.size()) return Status::ok();
  return error(Code::kTruncated, file.path(), ": record ", last, ", offset ", extent.offset,
               ": the last record, ends after ", text.size(), " bytes with ", cells, " of ",
               plan.names.size(), " cells");
}

Result<std::vector<TextField>> infer_fields(const MappedFile& file, const Head& head,
                                            const RecordEnds& records, const CsvPlan& plan,
                                            SourceInfo& info) {
  if (head.count == 0) {
    return error(without_records(info.notes), file.path(),
                 ": no records to infer types from; declare the fields, as in fields=name:text,label:i64");
  }
  std::vector<CsvTypeGuess> guesses(plan.names.size());
  for (int64_t i = 0; i < head.count; ++i) {
    CsvCells cells(record_of(head, records, i, plan.delimiter), plan.delimiter);
    size_t column = 0;
    for (CsvCell cell; column < guesses.size() && cells.next(cell); ++column) guesses[column].see(cell.text);
  }
  std::vector<std::string> left_out;
  DL_ASSIGN_OR_RETURN(std::vector<TextField> fields,
                      inferred_csv_fields(file.path(), plan, guesses, left_out));
  if (fields.empty())
    return error(Code::kUnsupported, file.path(), ": no column has a name that can name a field");
  info.notes.push_back(concat("fields inferred from the first ",
                              head.count == 1 ? "record" : concat(head.count, " records"),
                              ": fields=", text_of_fields(fields)));
  for (const std::string& what : left_out) info.notes.push_back("not read: " + what);
  return fields;
}

Result<CsvPlan> make_plan(const CsvOptions& options, const CsvDialect& dialect, const MappedFile& file,
                          const CsvRecords& found, SourceInfo& info) {
  CsvPlan plan;
  plan.delimiter = dialect.delimiter;
  plan.fill = options.fill;
  const bool infer = options.fields.empty();
  if (!infer && !dialect.header && found.records.count() == 0)
    return error(without_records(info.notes), file.path(),
                 ": no records; without a header, the first record sets the number of columns");
  DL_ASSIGN_OR_RETURN(const Head head, read_head(file, found.records,
                                                 infer            ? kSeenRecords
                                                 : dialect.header ? 0
                                                                  : 1));
  if (dialect.header) {
    DL_ASSIGN_OR_RETURN(plan.names, csv_names(file.path(), csv_record_text(found.header, dialect.delimiter),
                                              dialect.delimiter));
  } else if (head.count > 0) {
    const size_t columns =
        count_csv_cells(record_of(head, found.records, 0, dialect.delimiter), dialect.delimiter);
    if (columns > kMaxCsvColumns)
      return error(Code::kUnsupported, file.path(), ": record 0: ", columns, " columns, at most ",
                   kMaxCsvColumns);
    plan.names = numbered_names(columns);
  }
  std::vector<TextField> fields = options.fields;
  if (infer) {
    DL_ASSIGN_OR_RETURN(fields, infer_fields(file, head, found.records, plan, info));
  }
  DL_RETURN_IF_ERROR(bind_csv_fields(file.path(), std::move(fields), options.fields_column, plan));
  for (const TextField& each : plan.fields) {
    if (plan.fill && !each.is_text) DL_RETURN_IF_ERROR(check_fill(*plan.fill, each.field));
  }
  DL_RETURN_IF_ERROR(check_last(file, found, plan));
  return plan;
}

Result<SourceRef> open_csv(const CsvOptions& options, const std::string& path, const OpenContext& context) {
  DL_ASSIGN_OR_RETURN(const FirstBytes start, read_first_bytes(path, context));
  DL_ASSIGN_OR_RETURN(MappedFile file, open_maybe_compressed(path, nullptr, context));
  DL_RETURN_IF_ERROR(refuse_other_kinds(file, "comma-separated values"));
  SourceInfo info{"csv", "", {}};
  if (is_compressed(start.bytes())) info.notes.push_back(inflated_note(start.bytes(), file));
  const CsvDialect dialect{options.delimiter.value_or(has_suffix(path, kTabSuffixes) ? '\t' : ','),
                           options.header, options.cut};
  DL_ASSIGN_OR_RETURN(CsvRecords found, find_csv_records(file, dialect, context));
  if (found.cut_at >= 0) info.notes.push_back(cut_note(file, found.cut_at));
  DL_ASSIGN_OR_RETURN(CsvPlan plan, make_plan(options, dialect, file, found, info));
  DL_RETURN_IF_ERROR(file.load(context));
  std::vector<Field> schema;
  for (TextField& each : plan.fields) {
    if (each.is_text) each.field.max_bytes = most_text_bytes(each, found.longest);
    schema.push_back(each.field);
  }
  return with_null_masks(std::make_shared<CsvFile>(std::move(file), column_per_field(std::move(schema)),
                                                   std::move(info), std::move(found), std::move(plan)),
                         options.fill);
}

Result<OpenOne> configure_csv(const Uri& uri) {
  CsvOptions options;
  constexpr std::pair<std::string_view, char> kDelimiters[] = {
      {"comma", ','}, {"tab", '\t'}, {"semicolon", ';'}, {"pipe", '|'}};
  for (const auto& [name, delimiter] : kDelimiters) {
    DL_ASSIGN_OR_RETURN(const bool chosen, uri_is(uri, kDelimiter, name));
    if (chosen) options.delimiter = delimiter;
  }
  DL_ASSIGN_OR_RETURN(options.header, uri_is(uri, kHeader, "true"));
  if (const UriKey* key = uri.find("fields")) {
    DL_ASSIGN_OR_RETURN(options.fields, declared_text_fields(*key));
    options.fields_column = key->value_column;
  }
  DL_ASSIGN_OR_RETURN(options.fill, read_nulls(uri));
  DL_ASSIGN_OR_RETURN(options.cut, uri_is(uri, kTextEndKey, "cut"));
  return OpenOne([options](const std::string& path, const OpenContext& context) {
    return open_csv(options, path, context);
  });
}

constexpr KeySpec kCsvKeys[] = {{"fields", "FIELDS", "",
                                 "the columns to deliver, as in name:text,label:i64,pixel0:u8[28x28] (this "
                                 "column and the ones after it); default: all, with inferred types"},
                                kDelimiter,
                                kHeader,
                                kNullsKey,
                                kTextEndKey,
                                kAxesKey};
constexpr std::string_view kCsvSuffixes[] = {".csv", ".tsv", ".csv.gz", ".tsv.gz", ".csv.zst", ".tsv.zst"};

}  // namespace

constinit const Format kCsvFormat{
    .name = "csv",
    .doc = "comma-separated values, plain, gzipped or compressed with Zstandard. Fields: the columns by name",
    .keys = kCsvKeys,
    .configure = configure_csv,
    .ranges = true,
    .infers = true,
    .is_member = [](const std::string&, std::string_view name,
                    const OpenContext&) { return has_suffix(name, kCsvSuffixes); },
    .members = "*.csv, *.tsv, plain, .gz or .zst",
    .lists = true,
    // Plain ones are found by their names, after those that other formats know by content.
    .sniff =
        [](const FirstBytes& file) {
          return has_suffix(file.path, kCsvSuffixes) && is_compressed(file.bytes()) ? Sniff::kLikely
                                                                                    : Sniff::kNo;
        },
    .suffixes = kCsvSuffixes,
};

}  // namespace dataline
