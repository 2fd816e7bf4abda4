// SPDX-License-Identifier: Apache-2.0
#include "core/source/record_fields.h"

#include <optional>
#include <string_view>
#include <utility>

#include "core/base/checked.h"
#include "core/base/text.h"

namespace dataline {
namespace {

constexpr size_t kMaxFields = 1024;  // each is compared with all others
constexpr std::string_view kExpected =
    "expected name:dtype or name:dtype[AxB], as in label:u8,image:u8[3x32x32]";

// A field must have bytes, and so few that their number fits.
Status check_size(const Field& field, std::string_view text, int64_t column) {
  if (static_cast<int64_t>(field.shape.size()) > kMaxRank) {
    return uri_error(column, "'", text, "': ", field.shape.size(), " dims, at most ", kMaxRank);
  }
  std::optional<int64_t> items = checked_product(field.shape);
  std::optional<int64_t> bytes = items ? checked_multiply(*items, dtype_bytes(field.dtype)) : std::nullopt;
  if (!bytes) return uri_error(column, "'", text, "': more than 2^63 - 1 bytes");
  return *bytes > 0 ? Status::ok() : uri_error(column, "'", text, "': holds no bytes");
}

// name:dtype[AxBxC]
Result<Field> parse_field(std::string_view text, int64_t column) {
  size_t colon = text.rfind(':');
  if (colon == 0 || colon == std::string_view::npos) return uri_error(column, "'", text, "': ", kExpected);
  Field field;
  field.name = text.substr(0, colon);
  std::string_view type = text.substr(colon + 1);
  if (size_t bracket = type.find('['); bracket != std::string_view::npos) {
    if (!type.ends_with(']')) return uri_error(column, "'", text, "': ", kExpected);
    std::optional<std::vector<int64_t>> shape =
        parse_shape(type.substr(bracket + 1, type.size() - bracket - 2));
    if (!shape) return uri_error(column, "'", text, "': ", kExpected);
    field.shape = std::move(*shape);
    type = type.substr(0, bracket);
  }
  std::optional<DType> dtype = dtype_from_name(type);
  if (!dtype) return uri_error(column, "'", text, "': unknown dtype '", type, "'");
  field.dtype = *dtype;
  DL_RETURN_IF_ERROR(check_size(field, text, column));
  return field;
}

Result<std::vector<Field>> parse_field_list(const UriKey& key) {
  std::vector<Field> fields;
  int64_t column = key.value_column;
  for (std::string_view part : split(key.value, ',')) {
    if (fields.size() == kMaxFields) return uri_error(column, "more than ", kMaxFields, " fields");
    DL_ASSIGN_OR_RETURN(Field field, parse_field(part, column));
    for (const Field& other : fields) {
      if (other.name == field.name) return uri_error(column, "field '", field.name, "' is given twice");
    }
    fields.push_back(std::move(field));
    column += static_cast<int64_t>(part.size()) + 1;
  }
  return fields;
}

}  // namespace

Result<std::vector<Field>> record_fields(const Uri& uri) {
  const UriKey *fields = uri.find("fields"), *dtype_key = uri.find("dtype"), *shape_key = uri.find("shape");
  const UriKey* other = dtype_key != nullptr ? dtype_key : shape_key;
  if (fields != nullptr && other != nullptr) {
    return uri_error(other->column, "'", other->key, "' beside 'fields': give one of the two");
  }
  if (fields != nullptr) return parse_field_list(*fields);
  DL_ASSIGN_OR_RETURN(std::optional<DType> dtype, uri_dtype(uri, "dtype"));
  if (!dtype) {
    return uri_error(static_cast<int64_t>(uri.text.size()) + 1, uri.scheme,
                     " needs dtype= (and shape=), or fields=: ", kExpected);
  }
  Field field;
  field.name = "data";
  field.dtype = *dtype;
  if (shape_key != nullptr) {
    std::optional<std::vector<int64_t>> shape = parse_shape(shape_key->value);
    if (!shape)
      return uri_error(shape_key->value_column, "shape='", shape_key->value,
                       "': expected dims as in 3x32x32");
    field.shape = std::move(*shape);
    DL_RETURN_IF_ERROR(check_size(field, shape_key->value, shape_key->value_column));
  }
  return std::vector<Field>{std::move(field)};
}

}  // namespace dataline
