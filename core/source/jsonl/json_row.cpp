// SPDX-License-Identifier: Apache-2.0
#include "core/source/jsonl/json_row.h"

#include <algorithm>
#include <optional>

#include "core/base/text.h"

namespace dataline {
namespace {

constexpr int kMaxRowDepth = 32;
constexpr size_t kTooLong = SIZE_MAX;  // a path that is no field's

}  // namespace

JsonRowPlan JsonRowPlan::of(std::vector<TextField> fields, std::optional<NullFill> fill) {
  JsonRowPlan plan{std::move(fields), {}, fill};
  for (size_t f = 0; f < plan.fields.size(); ++f) plan.by_name.emplace_back(plan.fields[f].field.name, f);
  std::sort(plan.by_name.begin(), plan.by_name.end());
  return plan;
}

template <typename... Parts>
Status JsonRowReader::wrong(const Field& field, const Parts&... parts) const {
  return json_->refuse("byte ", json_->byte(), ": field '", field.name, "': ", parts...);
}

Status JsonRowReader::read(JsonReader& json, std::span<const ValueRoom> rooms, std::span<ValueCell> cells) {
  json_ = &json;
  rooms_ = rooms;
  cells_ = cells;
  given_.reset();
  DL_RETURN_IF_ERROR(read_object(0, 0));
  if (!json.at_end()) return json.expected("the end of the line");
  return given_.count() == plan_.fields.size() ? Status::ok() : fill_missing();
}

// The first `prefix` bytes of the path are of the object.
Status JsonRowReader::read_object(size_t prefix, int depth) {
  if (depth == kMaxRowDepth) return json_->refuse("more than ", kMaxRowDepth, " levels of objects");
  DL_RETURN_IF_ERROR(json_->expect('{'));
  for (bool first = true; !json_->take('}'); first = false) {
    if (!first) DL_RETURN_IF_ERROR(json_->expect(','));
    size_t length = 0;
    DL_RETURN_IF_ERROR(read_key(prefix, length));
    DL_RETURN_IF_ERROR(json_->expect(':'));
    DL_RETURN_IF_ERROR(read_member(length, depth));
  }
  return Status::ok();
}

Status JsonRowReader::read_key(size_t prefix, size_t& length) {
  const std::span<char> room = std::span(path_).subspan(prefix);
  size_t bytes = 0;
  DL_RETURN_IF_ERROR(json_->read_string(room, bytes));
  length = bytes < room.size() ? prefix + bytes : kTooLong;  // one byte is left for a '/'
  return Status::ok();
}

bool JsonRowReader::is_within(std::string_view prefix) const {
  const auto next =
      std::lower_bound(plan_.by_name.begin(), plan_.by_name.end(), prefix,
                       [](const auto& entry, std::string_view name) { return entry.first < name; });
  return next != plan_.by_name.end() && std::string_view(next->first).starts_with(prefix);
}

Status JsonRowReader::read_member(size_t length, int depth) {
  if (length == kTooLong) return json_->skip_value();
  const std::string_view path(path_.data(), length);
  const auto found =
      std::lower_bound(plan_.by_name.begin(), plan_.by_name.end(), path,
                       [](const auto& entry, std::string_view name) { return entry.first < name; });
  if (found != plan_.by_name.end() && found->first == path) return read_field(found->second);
  if (json_->peek() != '{') return json_->skip_value();
  path_[length] = '/';
  if (!is_within({path_.data(), length + 1})) return json_->skip_value();
  return read_object(length + 1, depth + 1);
}

Status JsonRowReader::read_field(size_t f) {
  const TextField& wanted = plan_.fields[f];
  if (given_[f]) return wrong(wanted.field, "appears twice");
  if (json_->take_word("null")) return Status::ok();
  given_.set(f);
  if (wanted.is_text) return read_text(f);
  if (wanted.field.kind == FieldKind::kRagged) return read_ragged(f);
  std::byte* out = rooms_[f].data;
  cells_[f] = {out, wanted.field.bytes()};
  return read_numbers(wanted.field, 0, out);
}

Status JsonRowReader::read_text(size_t f) {
  const Field& field = plan_.fields[f].field;
  std::string_view text;
  if (json_->peek() != '"') return json_->expected("a string for the field '" + field.name + "'");
  if (!json_->take_plain_string(text)) {
    const std::span<char> room(reinterpret_cast<char*>(rooms_[f].data), static_cast<size_t>(rooms_[f].bytes));
    size_t bytes = 0;
    DL_RETURN_IF_ERROR(json_->read_string(room, bytes));
    if (bytes > room.size()) {
      return error(Code::kTooLarge, json_->place(), "field '", field.name, "': ", bytes,
                   " bytes, max_bytes_per_sample is ", room.size());
    }
    text = {room.data(), bytes};
  }
  cells_[f] = cell_of(text);
  if (const std::optional<size_t> bad = find_no_utf8(text))
    return wrong(field, "byte ", *bad + 1, " of the string is not UTF-8");
  return Status::ok();
}

Status JsonRowReader::read_number(const Field& field, std::byte* out) {
  if (field.dtype == DType::kBool) {
    const bool yes = json_->take_word("true");
    if (!yes && !json_->take_word("false"))
      return json_->expected("true or false for the field '" + field.name + "'");
    *out = std::byte{yes};
    return Status::ok();
  }
  const char c = json_->peek();
  if (c != '-' && (c < '0' || c > '9')) return json_->expected("a number for the field '" + field.name + "'");
  std::string_view text;
  bool whole = false;
  DL_RETURN_IF_ERROR(json_->read_number(text, whole));
  if (store_number(field.dtype, text, whole, out)) return Status::ok();
  const bool fraction = !whole && dtype_is_integer(field.dtype);
  return error(fraction ? Code::kCorrupt : Code::kOutOfRange, json_->place(), "field '", field.name,
               "': ", shown_text(text), fraction ? ", expected an integer (" : " is out of range of ",
               dtype_name(field.dtype), fraction ? ")" : "");
}

// A scalar, or nested arrays of exactly the shape.
Status JsonRowReader::read_numbers(const Field& field, size_t dim, std::byte*& out) {
  if (dim == field.shape.size()) {
    DL_RETURN_IF_ERROR(read_number(field, out));
    out += dtype_bytes(field.dtype);
    return Status::ok();
  }
  if (json_->peek() != '[') return json_->expected("an array for the field '" + field.name + "'");
  DL_RETURN_IF_ERROR(json_->expect('['));
  for (int64_t i = 0; i < field.shape[dim]; ++i) {
    if (json_->peek() == ']') return wrong(field, "an array of ", i, " values, expected ", field.shape[dim]);
    if (i > 0) DL_RETURN_IF_ERROR(json_->expect(','));
    DL_RETURN_IF_ERROR(read_numbers(field, dim + 1, out));
  }
  if (json_->peek() == ',') return wrong(field, "an array of more than ", field.shape[dim], " values");
  return json_->expect(']');
}

Status JsonRowReader::read_ragged(size_t f) {
  const Field& field = plan_.fields[f].field;
  const int64_t item_bytes = dtype_bytes(field.dtype);
  if (json_->peek() != '[') return json_->expected("an array for the field '" + field.name + "'");
  DL_RETURN_IF_ERROR(json_->expect('['));
  int64_t bytes = 0;
  for (; !json_->take(']'); bytes += item_bytes) {
    if (bytes > 0) DL_RETURN_IF_ERROR(json_->expect(','));
    if (item_bytes > rooms_[f].bytes - bytes) {
      return error(Code::kTooLarge, json_->place(), "field '", field.name, "': more than ",
                   bytes / item_bytes, " values of ", item_bytes, " bytes, which is max_bytes_per_sample");
    }
    DL_RETURN_IF_ERROR(read_number(field, rooms_[f].data + bytes));
  }
  cells_[f] = bytes == 0 ? cell_of({}) : ValueCell{rooms_[f].data, bytes};
  return Status::ok();
}

// Missing and null are one.
Status JsonRowReader::fill_missing() {
  for (size_t f = 0; f < plan_.fields.size(); ++f) {
    if (given_[f]) continue;
    const Field& field = plan_.fields[f].field;
    if (!plan_.fill) {
      return json_->refuse("field '", field.name, "': missing, or null (nulls=fill(0) sets a value)");
    }
    if (field.kind == FieldKind::kRagged) {
      cells_[f] = cell_of({});
      cells_[f].null = true;
      continue;
    }
    std::byte* out = rooms_[f].data;
    cells_[f] = {out, field.bytes(), true};
    write_fill(*plan_.fill, field, out);
  }
  return Status::ok();
}

}  // namespace dataline
