// SPDX-License-Identifier: Apache-2.0
#include "core/source/arrow/memory_source.h"

#include <cstring>
#include <memory>
#include <system_error>
#include <utility>
#include <vector>

#include "core/base/text.h"
#include "core/source/arrow/arrow_rows.h"
#include "core/source/arrow/c_arrays.h"
#include "core/source/arrow/c_schema.h"
#include "core/source/files.h"
#include "core/source/flat_file.h"
#include "core/source/identity.h"
#include "core/source/leaf_source.h"
#include "core/source/null_masks.h"
#include "core/source/uri.h"

namespace dataline {
namespace {

// What the rows point to.
struct ArrowMemory {
  std::vector<ArrowOwned<ArrowArray>> arrays;
  std::vector<Block> bitmaps;
};

class ArrowMemorySource final : public LeafSource {
 public:
  ArrowMemorySource(ArrowMemory memory, Schema schema, SourceInfo info, ArrowRows rows)
      : memory_(std::move(memory)),
        schema_(std::move(schema)),
        info_(std::move(info)),
        rows_(std::move(rows)) {}

  int64_t count() const override { return rows_.count(); }
  const Schema& schema() const override { return schema_; }
  SourceInfo info() const override { return info_; }
  void locate(Run& run) const override { rows_.locate(run, ArrowAccess(), {}); }
  int64_t scratch_bytes(int64_t max_bytes_per_sample) const override {
    return rows_.scratch_bytes(max_bytes_per_sample);
  }
  void append_blocks(int64_t block_bytes, BlockEnds& ends) const override {
    rows_.append_blocks(block_bytes, ends);
  }
  int64_t stored_bytes() const override { return rows_.stored_bytes(); }
  int64_t record_items(int64_t index) const override {
    return rows_.knows_items() ? rows_.record_items(index, ArrowAccess()) : -1;
  }
  Result<const std::byte*> locate_items(const Run& run, const ItemRange& range,
                                        std::byte* room) const override {
    if (!rows_.finds_items()) return LeafSource::locate_items(run, range, room);
    return rows_.locate_items(range, ArrowAccess(), room);
  }
  Place place_of(int64_t index, size_t) const override {
    const ArrowStretch row = rows_.row_of(index);
    return {"", concat(kArrowMemory, ", record batch ", row.number, ", row ", row.row)};
  }
  void identify(IdentityBuilder& identity) const override {
    identity.add_schema(*this);
    identity.add("arrow memory");
    rows_.identify(identity);
    identity.add_records(*this);
  }

 private:
  const ArrowMemory memory_;
  const Schema schema_;
  const SourceInfo info_;
  const ArrowRows rows_;
};

// Reads arrays of one schema, and makes a source of them.
class ArrowMemoryOpener {
 public:
  ArrowMemoryOpener(const ArrowOptions& options, const OpenContext& context)
      : options_(options), context_(context) {}

  Status begin(const ArrowSchema& schema) {
    is_table_ =
        schema.dictionary == nullptr && schema.format != nullptr && std::string_view(schema.format) == "+s";
    DL_ASSIGN_OR_RETURN(const std::vector<ArrowField> fields, read_c_schema(schema));
    DL_ASSIGN_OR_RETURN(plan_, plan_arrow_columns(name_, fields, options_.fields, false));
    reader_.emplace(plan_, is_table_, context_);
    return Status::ok();
  }

  Status add(ArrowOwned<ArrowArray> array) {
    DL_RETURN_IF_ERROR(reader_->add(array.raw));
    memory_.arrays.push_back(std::move(array));
    return Status::ok();
  }

  Result<SourceRef> finish() {
    ArrowTables tables = reader_->take();
    memory_.bitmaps = reader_->take_bitmaps();
    SourceInfo info{"arrow", "", std::move(plan_.notes)};
    std::vector<Field> fields;
    for (ArrowColumn& column : plan_.columns) {
      if (column.values.ragged()) {
        DL_ASSIGN_OR_RETURN(const int64_t most,
                            longest_arrow_row(nullptr, tables.of(column), column.values, context_));
        column.field.max_bytes = most * column.values.unit_bytes;
      }
      fields.push_back(column.field);
    }
    const ArrowStore store{name_, true, kMaxRecordBytes, options_.fill, *context_.memory};
    DL_ASSIGN_OR_RETURN(std::vector<ArrowDelivery> deliveries,
                        deliver_columns(plan_, tables, store, info.notes));
    ArrowRows rows(name_, true, std::move(plan_), std::move(tables), std::move(deliveries), options_.fill);
    SourceRef source(std::make_shared<ArrowMemorySource>(
        std::move(memory_), column_per_field(std::move(fields)), std::move(info), std::move(rows)));
    return with_null_masks(std::move(source), options_.fill);
  }

 private:
  const ArrowOptions& options_;
  const OpenContext& context_;
  const std::string name_{kArrowMemory};
  bool is_table_ = false;
  ArrowPlan plan_;
  std::optional<CArrayReader> reader_;  // refers to the plan
  ArrowMemory memory_;
};

Status stream_failed(ArrowArrayStream& stream, const char* call, int number) {
  const char* why = stream.get_last_error == nullptr ? nullptr : stream.get_last_error(&stream);
  return error(Code::kReader, kArrowMemory, ": the stream's ", call, " failed: ",
               why != nullptr && *why != '\0' ? std::string(why) : std::generic_category().message(number));
}

}  // namespace

Result<ArrowOptions> arrow_memory_options(std::string_view keys) {
  DL_ASSIGN_OR_RETURN(const Uri uri, parse_uri_keys(keys));
  for (const UriKey& key : uri.keys) {
    if (key.key != "fields" && key.key != kNullsKey.name)
      return uri_error(key.column, "a table in memory has no key '", key.key, "' (keys: fields, nulls)");
  }
  ArrowOptions options;
  DL_ASSIGN_OR_RETURN(options.fields, uri_names(uri, "fields"));
  DL_ASSIGN_OR_RETURN(options.fill, read_nulls(uri));
  return options;
}

Result<SourceRef> open_arrow_stream(ArrowOwned<ArrowArrayStream> stream, const ArrowOptions& options,
                                    const OpenContext& context) {
  ArrowArrayStream& raw = stream.raw;
  if (raw.release == nullptr) return error(Code::kInvalidArgument, "the stream is already released");
  ArrowOwned<ArrowSchema> schema;
  if (const int failed = raw.get_schema(&raw, &schema.raw); failed != 0) {
    schema.raw.release = nullptr;
    return stream_failed(raw, "get_schema", failed);
  }
  ArrowMemoryOpener opener(options, context);
  DL_RETURN_IF_ERROR(opener.begin(schema.raw));
  for (;;) {
    ArrowOwned<ArrowArray> array;
    if (const int failed = raw.get_next(&raw, &array.raw); failed != 0) {
      array.raw.release = nullptr;
      return stream_failed(raw, "get_next", failed);
    }
    if (array.raw.release == nullptr) return opener.finish();
    DL_RETURN_IF_ERROR(opener.add(std::move(array)));
    context.report("reading ", kArrowMemory);
  }
}

Result<SourceRef> open_arrow_array(ArrowOwned<ArrowSchema> schema, ArrowOwned<ArrowArray> array,
                                   const ArrowOptions& options, const OpenContext& context) {
  if (schema.raw.release == nullptr || array.raw.release == nullptr)
    return error(Code::kInvalidArgument, schema.raw.release == nullptr ? "the schema" : "the array",
                 " is already released");
  ArrowMemoryOpener opener(options, context);
  DL_RETURN_IF_ERROR(opener.begin(schema.raw));
  DL_RETURN_IF_ERROR(opener.add(std::move(array)));
  return opener.finish();
}

}  // namespace dataline
