// SPDX-License-Identifier: Apache-2.0
#include "core/source/nulls.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "core/base/text.h"

namespace dataline {
namespace {

constexpr double kTooLargeForF16 = 65520.0;  // rounds to infinity

template <typename T>
bool store_whole(int64_t whole, std::byte* out) {
  if (!std::in_range<T>(whole)) return false;
  const auto value = static_cast<T>(whole);
  std::memcpy(out, &value, sizeof value);
  return true;
}

template <typename T>
bool store_real(double number, std::byte* out) {
  const auto value = static_cast<T>(number);
  if (!std::isfinite(value)) return false;
  std::memcpy(out, &value, sizeof value);
  return true;
}

// The bits of the nearest f16; of two the even one.
uint16_t half_bits(double value) {
  const auto sign = static_cast<uint16_t>(std::signbit(value) ? 0x8000 : 0);
  const double size = std::fabs(value);
  if (size < 0x1p-14) {
    // Steps of 2^-24, to even: adding 2^28 leaves no smaller ones. 1024 of them are the smallest normal number.
    return static_cast<uint16_t>(sign | static_cast<uint16_t>((size + 0x1p28 - 0x1p28) * 0x1p24));
  }
  int exponent = 0;
  const double fraction = std::frexp(size, &exponent) * 0x1p11;  // 1024 .. 2048
  const auto rounded = static_cast<uint16_t>(fraction + 0x1p52 - 0x1p52);
  return static_cast<uint16_t>(sign | (((exponent + 13) << 10) + rounded));  // a carry goes into the exponent
}

}  // namespace

bool store_fill(const NullFill& fill, DType dtype, std::byte* out) {
  if (dtype == DType::kF32) return store_real<float>(fill.number, out);
  if (dtype == DType::kF64) return store_real<double>(fill.number, out);
  if (dtype == DType::kF16) {
    if (std::fabs(fill.number) >= kTooLargeForF16) return false;
    const uint16_t bits = half_bits(fill.number);
    std::memcpy(out, &bits, sizeof bits);
    return true;
  }
  if (!fill.whole) return false;
  switch (dtype) {
    case DType::kBool:
      return (*fill.whole == 0 || *fill.whole == 1) && store_whole<uint8_t>(*fill.whole, out);
    case DType::kU8:
      return store_whole<uint8_t>(*fill.whole, out);
    case DType::kU16:
      return store_whole<uint16_t>(*fill.whole, out);
    case DType::kU32:
      return store_whole<uint32_t>(*fill.whole, out);
    case DType::kU64:
      return store_whole<uint64_t>(*fill.whole, out);
    case DType::kI8:
      return store_whole<int8_t>(*fill.whole, out);
    case DType::kI16:
      return store_whole<int16_t>(*fill.whole, out);
    case DType::kI32:
      return store_whole<int32_t>(*fill.whole, out);
    case DType::kI64:
      return store_whole<int64_t>(*fill.whole, out);
    default:
      return false;
  }
}

Result<std::optional<NullFill>> read_nulls(const Uri& uri) {
  const UriKey* key = uri.find(kNullsKey.name);
  if (key == nullptr || key->value == "error") return std::optional<NullFill>();
  const std::string_view value = key->value;
  if (value.starts_with("fill(") && value.ends_with(')')) {
    const std::string_view number = trim(value.substr(5, value.size() - 6));
    NullFill fill{0, parse_i64(number), key->value_column};
    const std::optional<double> real = fill.whole ? static_cast<double>(*fill.whole) : parse_f64(number);
    if (real) {
      fill.number = *real;
      return std::optional(fill);
    }
  }
  return uri_error(key->value_column, "nulls='", key->value, "': expected error, or fill(NUMBER)");
}

Status check_fill(const NullFill& fill, const Field& field) {
  std::byte room[8];
  if (field.kind == FieldKind::kRagged || store_fill(fill, field.dtype, room)) return Status::ok();
  const std::string number = fill.whole ? std::to_string(*fill.whole) : std::to_string(fill.number);
  return uri_error(fill.column, "nulls: field '", field.name, "' is ", field_type_text(field),
                   ", which cannot be ", number);
}

void write_fill(const NullFill& fill, const Field& field, std::byte* out) {
  const int64_t item_bytes = dtype_bytes(field.dtype), bytes = field.bytes();
  for (int64_t at = 0; at < bytes; at += item_bytes) store_fill(fill, field.dtype, out + at);
}

}  // namespace dataline
