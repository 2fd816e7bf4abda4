// SPDX-License-Identifier: Apache-2.0
#include "core/source/text_fields.h"

#include <charconv>
#include <cmath>
#include <cstring>
#include <optional>
#include <utility>

#include "core/base/checked.h"
#include "core/base/name_text.h"
#include "core/base/text.h"

namespace dataline {
namespace {

constexpr std::string_view kFieldForms =
    "expected name:text, name:dtype, name:dtype[AxB] or name:dtype[], as in text:text,label:i64,ids:i32[]";

bool is_read(DType dtype) {
  return dtype == DType::kBool || dtype_is_integer(dtype) || dtype == DType::kF32 || dtype == DType::kF64;
}

// What stands between the brackets of a type.
Status read_shape(std::string_view dims, std::string_view text, int64_t column, Field& field) {
  if (dims.empty()) {
    field.kind = FieldKind::kRagged;
    field.shape = {-1};
    return Status::ok();
  }
  std::optional<std::vector<int64_t>> shape = parse_shape(dims);
  if (!shape) return uri_error(column, "'", text, "': ", kFieldForms);
  if (static_cast<int64_t>(shape->size()) > kMaxRank)
    return uri_error(column, "'", text, "': ", shape->size(), " dims, at most ", kMaxRank);
  const std::optional<int64_t> items = checked_product(*shape);
  const std::optional<int64_t> bytes =
      items ? checked_multiply(*items, dtype_bytes(field.dtype)) : std::nullopt;
  constexpr int64_t kMost = int64_t{1} << 30;
  if (!bytes || *bytes == 0 || *bytes > kMost)
    return uri_error(column, "'", text, "': expected 1 byte to 1 GiB");
  field.shape = std::move(*shape);
  return Status::ok();
}

Result<TextField> declared_field(std::string_view text, int64_t column) {
  const size_t colon = text.rfind(':');
  if (colon == 0 || colon == std::string_view::npos) return uri_error(column, "'", text, "': ", kFieldForms);
  const std::string_view name = text.substr(0, colon);
  std::string_view type = text.substr(colon + 1);
  if (name.size() > kMaxTextFieldName)
    return uri_error(column, "a name of ", name.size(), " bytes, at most ", kMaxTextFieldName);
  if (!is_name_text(name)) return uri_error(column, printable(name), ": expected a name in ", kNameText);
  if (type == "text") return TextField{text_field(std::string(name)), true};
  TextField out;
  out.field.name = name;
  std::optional<std::string_view> dims;
  if (const size_t bracket = type.find('['); bracket != std::string_view::npos) {
    if (!type.ends_with(']')) return uri_error(column, "'", text, "': ", kFieldForms);
    dims = type.substr(bracket + 1, type.size() - bracket - 2);
    type = type.substr(0, bracket);
  }
  const std::optional<DType> dtype = dtype_from_name(type);
  if (!dtype || !is_read(*dtype)) {
    return uri_error(column, "'", text, "': '", type, "' is not text, bool, an integer, f32 or f64");
  }
  out.field.dtype = *dtype;
  if (dims) DL_RETURN_IF_ERROR(read_shape(*dims, text, column, out.field));
  return out;
}

// A number too small for an f64 is 0, as in every other parser; one too large is none.
std::optional<double> number_f64(std::string_view text) {
  double value = 0;
  const auto [stop, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (stop != text.data() + text.size()) return std::nullopt;
  if (failure == std::errc()) return value;
  const size_t exponent = text.find_first_of("eE");
  const bool small = exponent != std::string_view::npos && text.substr(exponent + 1).starts_with('-');
  if (failure == std::errc::result_out_of_range && small) return text.starts_with('-') ? -0.0 : 0.0;
  return std::nullopt;
}

// f32 through f64, and rounded once more: as a parser that has only doubles does.
template <typename Float>
bool store_float(std::string_view text, std::byte* out) {
  const std::optional<double> wide = number_f64(text);
  if (!wide || !std::isfinite(static_cast<Float>(*wide))) return false;
  const auto value = static_cast<Float>(*wide);
  std::memcpy(out, &value, sizeof value);
  return true;
}

}  // namespace

Field text_field(std::string name) { return {std::move(name), FieldKind::kRagged, DType::kU8, {-1}, "", -1}; }

bool store_number(DType dtype, std::string_view text, bool whole, std::byte* out) {
  if (dtype == DType::kF32) return store_float<float>(text, out);
  if (dtype == DType::kF64) return store_float<double>(text, out);
  if (!whole) return false;
  if (const std::optional<int64_t> value = parse_i64(text)) return store_whole(dtype, *value, out);
  uint64_t large = 0;  // above those of i64
  const auto [stop, failure] = std::from_chars(text.data(), text.data() + text.size(), large);
  if (dtype != DType::kU64 || failure != std::errc() || stop != text.data() + text.size()) return false;
  std::memcpy(out, &large, sizeof large);
  return true;
}

Result<std::vector<TextField>> declared_text_fields(const UriKey& key) {
  std::vector<TextField> fields;
  int64_t column = key.value_column;
  for (const std::string_view part : split(key.value, ',')) {
    if (fields.size() == kMaxTextFields) return uri_error(column, "more than ", kMaxTextFields, " fields");
    DL_ASSIGN_OR_RETURN(TextField field, declared_field(part, column));
    for (const TextField& other : fields) {
      if (other.field.name == field.field.name)
        return uri_error(column, "field '", field.field.name, "' appears twice");
    }
    fields.push_back(std::move(field));
    column += static_cast<int64_t>(part.size()) + 1;
  }
  return fields;
}

std::string text_of_fields(const std::vector<TextField>& fields) {
  std::string out;
  for (const TextField& each : fields) {
    const Field& field = each.field;
    out += concat(out.empty() ? "" : ",", field.name, ":", each.is_text ? "text" : dtype_name(field.dtype));
    if (each.is_text) continue;
    if (field.kind == FieldKind::kRagged || !field.shape.empty()) {
      out += concat("[", field.kind == FieldKind::kRagged ? "" : shape_text(field.shape), "]");
    }
  }
  return out;
}

int64_t most_text_bytes(const TextField& field, int64_t longest_record) {
  if (field.field.kind == FieldKind::kDense) return field.field.bytes();
  // A number takes two bytes at least, with what stands between it and the next.
  return field.is_text ? longest_record : (longest_record / 2 + 1) * dtype_bytes(field.field.dtype);
}

}  // namespace dataline
