// SPDX-License-Identifier: Apache-2.0
#include "core/source/arrow/arrow.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "core/source/arrow/arrow_source.h"
#include "core/source/files.h"
#include "core/source/flat_file.h"

namespace dataline {
namespace {

// Refuses what is no Arrow file; says whether it is a file with a footer, else it is read as a stream.
Result<bool> has_footer(const MappedFile& file) {
  std::array<std::byte, kDescribedBytes> first{};
  const int64_t count = std::min<int64_t>(kDescribedBytes, file.bytes());
  DL_RETURN_IF_ERROR(file.read(0, count, first.data()));
  const std::string_view text(reinterpret_cast<const char*>(first.data()), static_cast<size_t>(count));
  constexpr std::string_view kWord = "ARROW1";
  if (text.starts_with(kWord)) return true;
  if (!text.empty() && kWord.starts_with(text))
    return error(Code::kTruncated, file.path(),
                 ": offset 0: an Arrow file begins with 'ARROW1', this one has ", count, " bytes");
  if (text.starts_with("FEA1")) {
    return error(Code::kUnsupported, file.path(),
                 ": offset 0: a Feather 1 file, which is not read; write it again: "
                 "pyarrow.feather.write_feather(table, path, compression=\"uncompressed\")");
  }
  if (count < 4) {
    return error(Code::kTruncated, file.path(),
                 ": offset 0: an Arrow stream begins with a message, this one has ", count, " bytes");
  }
  const std::string what = describe_first_bytes(Bytes(first).first(static_cast<size_t>(count)));
  if (!what.starts_with("bytes "))
    return error(Code::kCorrupt, file.path(), ": offset 0: expected an Arrow file or stream, this is ", what);
  return false;
}

// What an open file is made of, step by step.
class ArrowOpener {
 public:
  ArrowOpener(MappedFile file, const ArrowOptions& options, const OpenContext& context)
      : file_(std::move(file)), options_(options), context_(context) {}

  Result<SourceRef> open() {
    DL_ASSIGN_OR_RETURN(const bool footer, has_footer(file_));
    if (footer) {
      DL_ASSIGN_OR_RETURN(const ArrowFooter tail, ArrowFooter::read(file_, context_));
      DL_RETURN_IF_ERROR(plan(tail.schema(), tail.old_unions()));
      DL_ASSIGN_OR_RETURN(ArrowTables tables, read_arrow_file(file_, plan_, tail, context_));
      return finish(std::move(tables));
    }
    ArrowMessages messages(file_, file_.bytes());
    DL_ASSIGN_OR_RETURN(const std::optional<ArrowMessage> schema, messages.read(0));
    if (!schema || schema->kind != ArrowKind::kSchema)
      return error(Code::kCorrupt, file_.path(),
                   ": offset 0: a stream begins with a schema, this one does not");
    DL_RETURN_IF_ERROR(plan(schema->header, schema->old_unions));
    DL_ASSIGN_OR_RETURN(ArrowTables tables, read_arrow_stream(file_, plan_, schema->end(), context_));
    return finish(std::move(tables));
  }

 private:
  Status plan(const FlatTable& schema, bool old_unions) {
    DL_ASSIGN_OR_RETURN(const std::vector<ArrowField> fields, read_arrow_schema(schema));
    DL_ASSIGN_OR_RETURN(plan_, plan_arrow_columns(file_.path(), fields, options_.fields, old_unions));
    return file_.load(context_);
  }

  Result<SourceRef> finish(ArrowTables tables) {
    SourceInfo info{"arrow", file_.path(), std::move(plan_.notes)};
    std::vector<Field> fields;
    std::vector<ArrowDelivery> deliveries;
    for (ArrowColumn& column : plan_.columns) {
      if (column.values.ragged()) column.field.max_bytes = longest(column, tables);
      DL_ASSIGN_OR_RETURN(ArrowDelivery delivery, deliver(column, tables, info));
      deliveries.push_back(std::move(delivery));
      fields.push_back(column.field);
    }
    if (!tables.end_mark)
      info.notes.push_back("no end mark: if its writer was not closed, record batches may be missing");
    return SourceRef(std::make_shared<ArrowSource>(std::move(file_), column_per_field(std::move(fields)),
                                                   std::move(info), std::move(plan_), std::move(tables),
                                                   std::move(deliveries), options_.fill));
  }

  // No row is longer than all values of its batch.
  static int64_t longest(const ArrowColumn& column, const ArrowTables& tables) {
    const ArrowBatches& batches =
        column.dictionary < 0 ? tables.batches : tables.dictionaries[static_cast<size_t>(column.dictionary)];
    int64_t most = 0;
    for (int64_t b = 0; b < batches.count(); ++b)
      most = std::max(most, batches.slots(b)[column.values.limit] * column.values.unit_bytes);
    return most;
  }

  Result<ArrowDelivery> deliver(const ArrowColumn& column, const ArrowTables& tables, SourceInfo& info) {
    ArrowDelivery out;
    int64_t rows = 0, items = 0;
    for (const int32_t slot : column.row_nulls)
      rows += std::min(tables.nulls[static_cast<size_t>(slot)], kMaxRecordBytes);
    const bool encoded = column.dictionary >= 0;
    for (const ArrowItemNulls& nulls : column.values.item_nulls) {
      if (!encoded) items += std::min(tables.nulls[static_cast<size_t>(nulls.slot)], kMaxRecordBytes);
    }
    const bool values = encoded && tables.value_nulls;
    out.nulls = rows > 0;
    out.element_bytes = dtype_bytes(column.field.dtype);
    const bool fills = options_.fill && (items > 0 || values);
    out.copies = !file_.addressable() || column.values.bits || fills;
    out.plain = !column.values.ragged() && !encoded && !out.nulls && items == 0 && !out.copies;
    if (rows + items == 0 && !values) return out;
    const std::string_view what = options_.fill
                                      ? ", delivered as the number of nulls=fill(), or as empty rows"
                                      : ": these samples are bad (nulls=fill(0) delivers 0)";
    info.notes.push_back(
        concat(column.field.name, ": ", rows + items, rows + items == 1 ? " null" : " nulls", what));
    if (options_.fill) DL_RETURN_IF_ERROR(prepare_fill(column, out));
    return out;
  }

  Status prepare_fill(const ArrowColumn& column, ArrowDelivery& out) {
    // Rows of ragged fields become empty, their items are numbers.
    if (column.values.ragged() && column.values.item_nulls.empty()) return Status::ok();
    Field element = column.field;
    element.kind = FieldKind::kDense;
    DL_RETURN_IF_ERROR(check_fill(*options_.fill, element));
    store_fill(*options_.fill, column.field.dtype, out.fill.bytes.data());
    if (column.values.ragged()) return Status::ok();
    const int64_t bytes = column.values.unit_bytes;
    if (bytes > std::max(file_.bytes() * 8, kScratchAlignment)) {
      return error(Code::kCorrupt, file_.path(), ": column ", printable(column.field.name), " has values of ",
                   bytes, " bytes, the file has ", file_.bytes());
    }
    DL_ASSIGN_OR_RETURN(out.fill_row,
                        context_.memory->allocate(bytes, 64, MemoryKind::kTable, "the value of nulls"));
    write_fill(*options_.fill, column.field, out.fill_row.data());
    return Status::ok();
  }

  MappedFile file_;
  const ArrowOptions& options_;
  const OpenContext& context_;
  ArrowPlan plan_;
};

}  // namespace

Result<SourceRef> open_arrow(const std::string& path, const ArrowOptions& options,
                             const OpenContext& context) {
  DL_ASSIGN_OR_RETURN(MappedFile file, MappedFile::open_unloaded(path, context));
  return ArrowOpener(std::move(file), options, context).open();
}

}  // namespace dataline
