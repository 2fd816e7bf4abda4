// SPDX-License-Identifier: Apache-2.0
#include "core/source/arrow/arrow.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "core/source/arrow/arrow_source.h"
#include "core/source/files.h"
#include "core/source/flat_file.h"
#include "core/source/null_masks.h"

namespace dataline {
namespace {

constexpr int64_t kArrowFileHeadBytes = 8;  // "ARROW1", padded

// Refuses what is no Arrow file; says whether it is a file with a footer, else it is read as a stream.
Result<bool> has_footer(const MappedFile& file, FileExtent place) {
  std::array<std::byte, kDescribedBytes> first{};
  const int64_t count = std::min<int64_t>(kDescribedBytes, place.bytes);
  DL_RETURN_IF_ERROR(file.read(place.offset, count, first.data()));
  const std::string where = concat(file.path(), ": offset ", place.offset);
  const std::string_view text(reinterpret_cast<const char*>(first.data()), static_cast<size_t>(count));
  constexpr std::string_view kWord = "ARROW1";
  if (text.starts_with(kWord)) return true;
  if (!text.empty() && kWord.starts_with(text))
    return error(Code::kTruncated, where, ": expected an Arrow file, which starts with 'ARROW1', got ", count,
                 " bytes");
  if (text.starts_with("FEA1")) {
    return error(Code::kUnsupported, where,
                 ": a Feather 1 file, which is not supported; convert it: "
                 "pyarrow.feather.write_feather(table, path, compression=\"uncompressed\")");
  }
  if (count < 4) {
    return error(Code::kTruncated, where, ": expected an Arrow stream, which starts with a message, got ",
                 count, " bytes");
  }
  const std::string what = describe_first_bytes(Bytes(first).first(static_cast<size_t>(count)));
  if (!what.starts_with("bytes "))
    return error(Code::kCorrupt, where, ": expected an Arrow file or stream, got ", what);
  return false;
}

// What an open file is made of, step by step.
class ArrowOpener {
 public:
  ArrowOpener(MappedFile file, FileExtent place, std::string_view format, const ArrowOptions& options,
              const OpenContext& context)
      : file_(std::move(file)), place_(place), format_(format), options_(options), context_(context) {}

  Result<SourceRef> open() {
    DL_ASSIGN_OR_RETURN(const bool footer, has_footer(file_, place_));
    if (!footer) return open_stream(place_.offset);
    Result<ArrowFooter> tail = ArrowFooter::read(file_, place_, context_);
    const bool lost =
        !tail.is_ok() && (tail.status().code() == Code::kTruncated || tail.status().code() == Code::kCorrupt);
    if (lost && options_.cut && place_.bytes > kArrowFileHeadBytes) {
      footer_note_ = concat(kDamaged, tail.status().text(), ": read without the footer");
      return open_stream(place_.offset + kArrowFileHeadBytes);
    }
    DL_RETURN_IF_ERROR(tail.is_ok() ? Status::ok() : tail.take_status());
    DL_RETURN_IF_ERROR(plan(tail.value().schema(), tail.value().old_unions()));
    DL_ASSIGN_OR_RETURN(ArrowTables tables, read_arrow_file(file_, plan_, tail.value(), context_));
    return finish(std::move(tables));
  }

 private:
  Result<SourceRef> open_stream(int64_t begin) {
    ArrowMessages messages(file_, place_);
    DL_ASSIGN_OR_RETURN(const std::optional<ArrowMessage> schema, messages.read(begin));
    if (!schema || schema->kind != ArrowKind::kSchema)
      return error(Code::kCorrupt, file_.path(), ": offset ", begin,
                   ": expected a schema at the start of the stream");
    DL_RETURN_IF_ERROR(plan(schema->header, schema->old_unions));
    DL_ASSIGN_OR_RETURN(
        ArrowTables tables,
        read_arrow_stream(file_, plan_, {schema->end(), end() - schema->end()}, options_.cut, context_));
    return finish(std::move(tables));
  }

  Status plan(const FlatTable& schema, bool old_unions) {
    DL_ASSIGN_OR_RETURN(const std::vector<ArrowField> fields, read_arrow_schema(schema));
    DL_ASSIGN_OR_RETURN(plan_, plan_arrow_columns(file_.path(), fields, options_.fields, old_unions));
    return Status::ok();
  }

  Result<SourceRef> finish(ArrowTables tables) {
    std::optional<MappedFile> inflated = std::move(tables.inflated);
    SourceInfo info{std::string(format_), file_.path(), std::move(plan_.notes)};
    if (!footer_note_.empty()) info.notes.push_back(std::move(footer_note_));
    if (inflated) {
      info.notes.push_back(concat(file_.path(), ": compressed with ", tables.codecs, ": ", inflated->bytes(),
                                  " bytes decompressed into memory"));
    }
    if (tables.left_out > 0) {
      info.notes.push_back(concat(kDamaged, file_.path(), ": cut: ", tables.left_out, " bytes from offset ",
                                  end() - tables.left_out, " on are left out"));
    } else if (!tables.end_mark)
      info.notes.push_back("no end mark: if its writer was not closed, record batches may be missing");
    if (inflated) return source_of(std::move(*inflated), std::move(tables), std::move(info));
    DL_RETURN_IF_ERROR(file_.load(context_));
    return source_of(std::move(file_), std::move(tables), std::move(info));
  }

  Result<SourceRef> source_of(MappedFile file, ArrowTables tables, SourceInfo info) {
    std::vector<Field> fields;
    for (ArrowColumn& column : plan_.columns) {
      if (column.values.ragged()) {
        DL_ASSIGN_OR_RETURN(const int64_t most,
                            longest_arrow_row(&file, tables.of(column), column.values, context_));
        column.field.max_bytes = most * column.values.unit_bytes;
      }
      fields.push_back(column.field);
    }
    const ArrowStore store{file.path(), file.addressable(), std::max(file.bytes() * 8, kScratchAlignment),
                           options_.fill, *context_.memory};
    DL_ASSIGN_OR_RETURN(std::vector<ArrowDelivery> deliveries,
                        deliver_columns(plan_, tables, store, info.notes));
    ArrowRows rows(file.path(), file.inflated(), std::move(plan_), std::move(tables), std::move(deliveries),
                   options_.fill);
    SourceRef source(std::make_shared<ArrowSource>(std::move(file), column_per_field(std::move(fields)),
                                                   std::move(info), std::move(rows)));
    return with_null_masks(std::move(source), options_.fill);
  }

  int64_t end() const { return place_.offset + place_.bytes; }

  MappedFile file_;
  const FileExtent place_;  // of the Arrow file
  const std::string_view format_;
  const ArrowOptions& options_;
  const OpenContext& context_;
  ArrowPlan plan_;
  std::string footer_note_;  // empty: it was read, or there is none
};

}  // namespace

Result<SourceRef> open_arrow(const std::string& path, const ArrowOptions& options,
                             const OpenContext& context) {
  DL_ASSIGN_OR_RETURN(MappedFile file, MappedFile::open_unloaded(path, context));
  const FileExtent all{0, file.bytes()};
  return open_arrow_within(std::move(file), all, "arrow", options, context);
}

Result<SourceRef> open_arrow_within(MappedFile file, FileExtent place, std::string_view format,
                                    const ArrowOptions& options, const OpenContext& context) {
  return ArrowOpener(std::move(file), place, format, options, context).open();
}

}  // namespace dataline
