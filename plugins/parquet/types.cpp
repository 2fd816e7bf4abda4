// What types are read as, and what values can be written as.
// SPDX-License-Identifier: Apache-2.0
#include "types.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace dataline_parquet {

using arrow::Type;

// What values of a type are delivered as; dtype 0 for types that are no element.
Element element_of(const arrow::DataType& type) {
  switch (type.id()) {
    case Type::BOOL:
      return {DL_DTYPE_BOOL, 1};
    case Type::UINT8:
    case Type::FIXED_SIZE_BINARY:
      return {DL_DTYPE_U8, 1};
    case Type::INT8:
      return {DL_DTYPE_I8, 1};
    case Type::UINT16:
      return {DL_DTYPE_U16, 2};
    case Type::INT16:
      return {DL_DTYPE_I16, 2};
    case Type::HALF_FLOAT:
      return {DL_DTYPE_F16, 2};
    case Type::UINT32:
      return {DL_DTYPE_U32, 4};
    case Type::INT32:
    case Type::DATE32:
    case Type::TIME32:
      return {DL_DTYPE_I32, 4};
    case Type::FLOAT:
      return {DL_DTYPE_F32, 4};
    case Type::UINT64:
      return {DL_DTYPE_U64, 8};
    case Type::INT64:
    case Type::DATE64:
    case Type::TIME64:
    case Type::TIMESTAMP:
    case Type::DURATION:
      return {DL_DTYPE_I64, 8};
    case Type::DOUBLE:
      return {DL_DTYPE_F64, 8};
    default:
      return {};
  }
}

// Extension types are what they are stored as.
TypeRef stored(const TypeRef& type) {
  if (type->id() != Type::EXTENSION) return type;
  return stored(static_cast<const arrow::ExtensionType&>(*type).storage_type());
}

ArrayRef stored(const ArrayRef& array) {
  if (array->type_id() != Type::EXTENSION) return array;
  return stored(static_cast<const arrow::ExtensionArray&>(*array).storage());
}

bool is_text(Type::type id) {
  return id == Type::STRING || id == Type::BINARY || id == Type::LARGE_STRING || id == Type::LARGE_BINARY;
}

bool is_a_list(Type::type id) { return id == Type::LIST || id == Type::LARGE_LIST; }

bool is_dense(const TypeRef& type) {
  const TypeRef inner = stored(type);
  if (inner->id() == Type::FIXED_SIZE_LIST) return is_dense(inner->field(0)->type());
  return element_of(*inner).dtype != 0;
}

bool is_read(const TypeRef& given) {
  TypeRef type = stored(given);
  if (type->id() == Type::DICTIONARY)
    type = stored(static_cast<const arrow::DictionaryType&>(*type).value_type());
  return is_text(type->id()) || is_dense(type) || (is_a_list(type->id()) && is_dense(type->field(0)->type()));
}

namespace {

template <typename T>
bool store_whole(int64_t value, std::vector<uint8_t>& out) {
  const auto stored_value = static_cast<T>(value);
  if (static_cast<int64_t>(stored_value) != value || (value < 0) != (stored_value < T{0})) return false;
  out.resize(sizeof stored_value);
  std::memcpy(out.data(), &stored_value, sizeof stored_value);
  return true;
}

template <typename T>
bool store_real(double value, std::vector<uint8_t>& out) {
  const auto stored_value = static_cast<T>(value);
  if (!std::isfinite(stored_value)) return false;
  out.resize(sizeof stored_value);
  std::memcpy(out.data(), &stored_value, sizeof stored_value);
  return true;
}

// To nearest even, as all of the library's conversions to f16.
bool store_half(double value, std::vector<uint8_t>& out) {
  const double size = std::fabs(value);
  if (!(size < 65520.0)) return false;
  int exponent = 0;
  if (size > 0) exponent = std::max(std::ilogb(size), -14);
  if (size == 0 || exponent < -14) exponent = -14;
  const auto units =
      static_cast<uint32_t>(std::nearbyint(std::ldexp(size, 10 - exponent)));  // 1 is 2^(exponent - 10)
  uint32_t bits = units;  // subnormal: as it is; its carry into the exponent is right too
  if (units >= 1024) bits = static_cast<uint32_t>(exponent + 15) * 1024 + (units - 1024);
  if (std::signbit(value)) bits |= 0x8000;
  const auto half = static_cast<uint16_t>(bits);
  out.resize(2);
  std::memcpy(out.data(), &half, 2);
  return true;
}

}  // namespace

bool store_fill(const Fill& fill, int32_t dtype, std::vector<uint8_t>& out) {
  if (dtype == DL_DTYPE_F16) return store_half(fill.number, out);
  if (dtype == DL_DTYPE_F32) return store_real<float>(fill.number, out);
  if (dtype == DL_DTYPE_F64) return store_real<double>(fill.number, out);
  if (!fill.whole) return false;
  const int64_t whole = *fill.whole;
  switch (dtype) {
    case DL_DTYPE_BOOL:
      return (whole == 0 || whole == 1) && store_whole<uint8_t>(whole, out);
    case DL_DTYPE_U8:
      return store_whole<uint8_t>(whole, out);
    case DL_DTYPE_U16:
      return store_whole<uint16_t>(whole, out);
    case DL_DTYPE_U32:
      return store_whole<uint32_t>(whole, out);
    case DL_DTYPE_U64:
      return store_whole<uint64_t>(whole, out);
    case DL_DTYPE_I8:
      return store_whole<int8_t>(whole, out);
    case DL_DTYPE_I16:
      return store_whole<int16_t>(whole, out);
    case DL_DTYPE_I32:
      return store_whole<int32_t>(whole, out);
    default:
      return store_whole<int64_t>(whole, out);
  }
}

// As Unicode has it: no surrogates, nothing longer than needed, at most U+10FFFF.
bool is_utf8(const std::string& text) {
  for (size_t at = 0; at < text.size();) {
    const auto first = static_cast<uint8_t>(text[at]);
    const size_t length = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
    if ((first >= 0x80 && first < 0xc2) || first > 0xf4 || length > text.size() - at) return false;
    for (size_t i = 1; i < length; ++i)
      if ((static_cast<uint8_t>(text[at + i]) & 0xc0) != 0x80) return false;
    const uint8_t second = length > 1 ? static_cast<uint8_t>(text[at + 1]) : 0x80;
    if ((first == 0xe0 && second < 0xa0) || (first == 0xed && second > 0x9f) ||
        (first == 0xf0 && second < 0x90) || (first == 0xf4 && second > 0x8f))
      return false;
    at += length;
  }
  return true;
}

bool is_name_text(const std::string& text) {
  if (!is_utf8(text)) return false;
  const auto within = [](uint32_t character, uint32_t first, uint32_t last) {
    return character >= first && character <= last;
  };
  for (size_t at = 0; at < text.size();) {
    const auto lead = static_cast<uint8_t>(text[at]);
    const size_t length = lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
    uint32_t character = length == 1 ? lead : lead & (0xffu >> (length + 1));
    for (size_t i = 1; i < length; ++i)
      character = character << 6 | (static_cast<uint8_t>(text[at + i]) & 0x3fu);
    if (within(character, 0, 0x1f) || within(character, 0x7f, 0x9f) || character == 0x61c ||
        within(character, 0x200e, 0x200f) || within(character, 0x2028, 0x202e) ||
        within(character, 0x2066, 0x2069) || character == 0xfeff)
      return false;
    at += length;
  }
  return true;
}

std::string printable(const std::string& text) {
  constexpr size_t kMaxBytes = 64;
  size_t end = std::min(text.size(), kMaxBytes);
  // A character of UTF-8 is kept complete or left out.
  while (end < text.size() && end > kMaxBytes - 3 && (static_cast<uint8_t>(text[end]) & 0xc0) == 0x80) --end;
  std::string out = "'";
  for (const char c : text.substr(0, end)) c == '\0' ? out += "\\x00" : out += c;
  return out + (end < text.size() ? "...'" : "'");
}

std::string PqField::type_text() const {
  constexpr const char* kNames[] = {"?",   "bool", "u8",  "u16",  "u32", "u64", "i8",  "i16",
                                    "i32", "i64",  "f16", "bf16", "f32", "f64", "c64", "c128"};
  std::string out = kNames[dtype];
  for (size_t i = 0; i < shape.size(); ++i) {
    out += i == 0 ? '[' : 'x';
    out += shape[i] < 0 ? std::string("?") : std::to_string(shape[i]);
  }
  return shape.empty() ? out : out + "]";
}

}  // namespace dataline_parquet
