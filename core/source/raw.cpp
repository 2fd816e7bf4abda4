// SPDX-License-Identifier: Apache-2.0
#include "core/source/raw.h"

#include <bit>
#include <optional>
#include <utility>

#include "core/base/checked.h"
#include "core/base/text.h"
#include "core/source/flat_file.h"

namespace dataline {
namespace {

std::optional<int64_t> field_bytes(const Field& field) {
  std::optional<int64_t> items = checked_product(field.shape);
  return items ? checked_multiply(*items, dtype_bytes(field.dtype)) : std::nullopt;
}

Status check_field(const std::string& path, const std::vector<Field>& fields, size_t f) {
  const Field& field = fields[f];
  std::string at = concat(path, ": raw field '", field.name, "' (", field_type_text(field), ") ");
  if (static_cast<int64_t>(field.shape.size()) > kMaxRank) {
    return error(Code::kBadUri, path, ": raw field '", field.name, "' has ", field.shape.size(),
                 " dims, at most ", kMaxRank, " are read");
  }
  std::optional<int64_t> bytes = field_bytes(field);
  if (field.kind != FieldKind::kDense || field.name.empty())
    return error(Code::kBadUri, at, "needs a name and a size");
  if (!bytes) return error(Code::kBadUri, at, "has more than 2^63 bytes");
  if (*bytes == 0) return error(Code::kBadUri, at, "holds no bytes");
  for (size_t other = 0; other < f; ++other) {
    if (fields[other].name == field.name) return error(Code::kBadUri, at, "is named twice");
  }
  return Status::ok();
}

// Schema and columns of the packed record; kBadUri names the field that does not fit.
Result<FlatLayout> pack_fields(const std::string& path, const RawOptions& options, Schema& schema) {
  FlatLayout layout;
  if (options.fields.empty()) return error(Code::kBadUri, path, ": raw needs dtype= and shape=, or fields=");
  for (size_t f = 0; f < options.fields.size(); ++f) {
    DL_RETURN_IF_ERROR(check_field(path, options.fields, f));
    const Field& field = options.fields[f];
    int64_t bytes = field.bytes();
    bool native = std::endian::native == std::endian::little;
    FlatConversion conversion = native ? FlatConversion::kNone : swap_conversion(field.dtype);
    schema.places.push_back(FieldPlace{static_cast<int32_t>(f), 0, false});
    schema.columns.push_back(Column{bytes});
    layout.columns.push_back(FlatColumn{layout.record_bytes, bytes, conversion});
    std::optional<int64_t> record = checked_add(layout.record_bytes, bytes);
    if (!record) return error(Code::kBadUri, path, ": raw records have more than 2^63 bytes");
    layout.record_bytes = *record;
  }
  schema.fields = options.fields;
  layout.record_stride = layout.record_bytes;
  return layout;
}

Status apply_axes(const std::string& path, const RawOptions& options, Schema& schema) {
  if (options.axes.empty()) return Status::ok();
  if (schema.fields.size() == 1) return set_axes(path, options.axes, schema.fields[0]);
  for (Field& field : schema.fields) {
    if (field.name == "image") return set_axes(path, options.axes, field);
  }
  return error(Code::kBadUri, path, ": axes=", options.axes,
               " is for the only field or for 'image', and there is neither");
}

}  // namespace

Result<SourceRef> open_raw(const std::string& path, const RawOptions& options, const OpenContext& context) {
  Schema schema;
  DL_ASSIGN_OR_RETURN(FlatLayout layout, pack_fields(path, options, schema));
  DL_RETURN_IF_ERROR(apply_axes(path, options, schema));
  if (options.header_bytes < 0)
    return error(Code::kBadUri, path, ": header=", options.header_bytes, " is negative");
  DL_ASSIGN_OR_RETURN(MappedFile file, MappedFile::open_unloaded(path, context));
  if (options.header_bytes > file.bytes()) {
    return error(Code::kTruncated, path, ": offset 0: header=", options.header_bytes, " needs ",
                 options.header_bytes, " bytes, file has ", file.bytes());
  }
  int64_t body = file.bytes() - options.header_bytes;
  int64_t cut = body % layout.record_bytes;
  if (cut != 0 && !options.partial_ignore) {
    return error(Code::kTruncated, path, ": offset ", file.bytes() - cut, ": last record has ", cut,
                 " bytes, expected ", layout.record_bytes, " (partial=ignore leaves it out)");
  }
  DL_RETURN_IF_ERROR(file.load(context));
  layout.data_offset = options.header_bytes;
  layout.record_count = body / layout.record_bytes;
  SourceInfo info{"raw", "", {}};
  if (cut != 0) info.notes.push_back(concat("the last ", cut, " bytes are a cut record, left out"));
  return FlatFile::create(std::move(file), std::move(schema), std::move(layout), std::move(info));
}

}  // namespace dataline
