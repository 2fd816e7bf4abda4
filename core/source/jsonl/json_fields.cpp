// SPDX-License-Identifier: Apache-2.0
#include "core/source/jsonl/json_fields.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <optional>
#include <utility>

#include "core/base/checked.h"
#include "core/base/text.h"

namespace dataline {
namespace {

constexpr std::string_view kJsonFieldForms =
    "expected name:text, name:dtype, name:dtype[AxB] or name:dtype[], as in text:text,label:i64,ids:i32[]";
constexpr int kMaxJsonDepth = 32;  // of objects in objects

Field text_field(std::string name) { return {std::move(name), FieldKind::kRagged, DType::kU8, {-1}, "", -1}; }

bool is_read(DType dtype) {
  return dtype == DType::kBool || dtype_is_integer(dtype) || dtype == DType::kF32 || dtype == DType::kF64;
}

// What stands between the brackets of a type.
Status read_json_shape(std::string_view dims, std::string_view text, int64_t column, Field& field) {
  if (dims.empty()) {
    field.kind = FieldKind::kRagged;
    field.shape = {-1};
    return Status::ok();
  }
  std::optional<std::vector<int64_t>> shape = parse_shape(dims);
  if (!shape) return uri_error(column, "'", text, "': ", kJsonFieldForms);
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

Result<JsonField> declared_field(std::string_view text, int64_t column) {
  const size_t colon = text.rfind(':');
  if (colon == 0 || colon == std::string_view::npos)
    return uri_error(column, "'", text, "': ", kJsonFieldForms);
  const std::string_view name = text.substr(0, colon);
  std::string_view type = text.substr(colon + 1);
  if (name.size() > kMaxJsonName)
    return uri_error(column, "a name of ", name.size(), " bytes, at most ", kMaxJsonName);
  if (type == "text") return JsonField{text_field(std::string(name)), true};
  JsonField out;
  out.field.name = name;
  std::optional<std::string_view> dims;
  if (const size_t bracket = type.find('['); bracket != std::string_view::npos) {
    if (!type.ends_with(']')) return uri_error(column, "'", text, "': ", kJsonFieldForms);
    dims = type.substr(bracket + 1, type.size() - bracket - 2);
    type = type.substr(0, bracket);
  }
  const std::optional<DType> dtype = dtype_from_name(type);
  if (!dtype || !is_read(*dtype)) {
    return uri_error(column, "'", text, "': '", type, "' is not text, bool, an integer, f32 or f64");
  }
  out.field.dtype = *dtype;
  if (dims) DL_RETURN_IF_ERROR(read_json_shape(*dims, text, column, out.field));
  return out;
}

// A number too small for an f64 is 0, as in every other parser; one too large is none.
std::optional<double> json_f64(std::string_view text) {
  double value = 0;
  const auto [stop, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failure == std::errc() && stop == text.data() + text.size()) return value;
  const size_t exponent = text.find_first_of("eE");
  const bool small = exponent != std::string_view::npos && text.substr(exponent + 1).starts_with('-');
  if (failure == std::errc::result_out_of_range && small) return text.starts_with('-') ? -0.0 : 0.0;
  return std::nullopt;
}

// f32 through f64, and rounded once more: as a parser that has only doubles does.
template <typename Float>
bool store_float(std::string_view text, std::byte* out) {
  const std::optional<double> wide = json_f64(text);
  if (!wide || !std::isfinite(static_cast<Float>(*wide))) return false;
  const auto value = static_cast<Float>(*wide);
  std::memcpy(out, &value, sizeof value);
  return true;
}

class Inference {
 public:
  explicit Inference(JsonReader& json) : json_(json) {}

  Status read_object(const std::string& prefix, int depth) {
    if (depth == kMaxJsonDepth) return json_.refuse("more than ", kMaxJsonDepth, " levels of objects");
    return json_.each_member([&](const std::string& key) { return read_value(prefix + key, depth); });
  }
  InferredJson take() { return std::move(found_); }

 private:
  Status read_value(const std::string& name, int depth) {
    const char c = json_.peek();
    if (c == '{') return read_object(name + "/", depth + 1);
    if (c == '"') {
      DL_RETURN_IF_ERROR(json_.skip_value());
      return add({text_field(name), true});
    }
    if (c == '[') return read_array(name);
    std::optional<DType> dtype;
    DL_RETURN_IF_ERROR(read_scalar(dtype));
    if (!dtype) return leave_out(name, "null");
    return add({{name, FieldKind::kDense, *dtype, {}, "", -1}});
  }

  // No dtype: something else, which is skipped.
  Status read_scalar(std::optional<DType>& dtype) {
    if (json_.take_word("true") || json_.take_word("false")) {
      dtype = DType::kBool;
      return Status::ok();
    }
    const char c = json_.peek();
    if (c != '-' && (c < '0' || c > '9')) return json_.skip_value();
    std::string_view text;
    bool whole = false;
    DL_RETURN_IF_ERROR(json_.read_number(text, whole));
    dtype = whole ? DType::kI64 : DType::kF64;
    return Status::ok();
  }

  // Whole numbers among others are others.
  Status read_array(const std::string& name) {
    std::optional<DType> dtype;
    bool alike = true, empty = true;
    Status read = json_.each_item([&]() -> Status {
      std::optional<DType> item;
      DL_RETURN_IF_ERROR(read_scalar(item));
      alike = alike && item && (empty || (*item == DType::kBool) == (*dtype == DType::kBool));
      if (alike && (empty || *item == DType::kF64)) dtype = item;
      empty = false;
      return Status::ok();
    });
    DL_RETURN_IF_ERROR(std::move(read));
    if (empty) return leave_out(name, "an empty array");
    if (!alike) return leave_out(name, "an array of other things than numbers");
    return add({{name, FieldKind::kRagged, *dtype, {-1}, "", -1}});
  }

  Status add(JsonField field) {
    if (field.field.name.empty() || field.field.name.size() > kMaxJsonName) {
      return leave_out(std::string(field.field.name.substr(0, 32)), "no field can have this name");
    }
    for (const JsonField& other : found_.fields) {
      if (other.field.name == field.field.name)
        return json_.refuse("the key ", field.field.name, " is given twice");
    }
    if (found_.fields.size() == kMaxJsonFields) {
      return error(Code::kUnsupported, json_.place(), "more than ", kMaxJsonFields,
                   " values that could be fields; name those wanted, as in fields=text:text,label:i64");
    }
    found_.fields.push_back(std::move(field));
    return Status::ok();
  }

  Status leave_out(const std::string& name, std::string_view why) {
    found_.left_out.push_back(name + " (" + std::string(why) + ")");
    return Status::ok();
  }

  JsonReader& json_;
  InferredJson found_;
};

}  // namespace

bool store_json_number(DType dtype, std::string_view text, bool whole, std::byte* out) {
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

Result<std::vector<JsonField>> declared_json_fields(const UriKey& key) {
  std::vector<JsonField> fields;
  int64_t column = key.value_column;
  for (const std::string_view part : split(key.value, ',')) {
    if (fields.size() == kMaxJsonFields) return uri_error(column, "more than ", kMaxJsonFields, " fields");
    DL_ASSIGN_OR_RETURN(JsonField field, declared_field(part, column));
    for (const JsonField& other : fields) {
      if (other.field.name == field.field.name)
        return uri_error(column, "field '", field.field.name, "' is given twice");
    }
    fields.push_back(std::move(field));
    column += static_cast<int64_t>(part.size()) + 1;
  }
  return fields;
}

Result<InferredJson> infer_json_fields(JsonReader json) {
  Inference inference(json);
  DL_RETURN_IF_ERROR(inference.read_object("", 0));
  if (!json.at_end()) return json.expected("the line's end");
  return inference.take();
}

}  // namespace dataline
