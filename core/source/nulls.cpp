// SPDX-License-Identifier: Apache-2.0
#include "core/source/nulls.h"

#include <cmath>
#include <cstring>

#include "core/base/half.h"
#include "core/base/text.h"

namespace dataline {
namespace {

template <typename T>
bool store_real(double number, std::byte* out) {
  const auto value = static_cast<T>(number);
  if (!std::isfinite(value)) return false;
  std::memcpy(out, &value, sizeof value);
  return true;
}

}  // namespace

bool store_fill(const NullFill& fill, DType dtype, std::byte* out) {
  if (dtype == DType::kF32) return store_real<float>(fill.number, out);
  if (dtype == DType::kF64) return store_real<double>(fill.number, out);
  if (dtype == DType::kF16) {
    constexpr uint16_t kInfinity = 0x7c00;
    const uint16_t bits = float_to_half(narrow_to_odd(fill.number));
    std::memcpy(out, &bits, sizeof bits);
    return (bits & 0x7fff) < kInfinity;
  }
  return fill.whole && store_whole(dtype, *fill.whole, out);
}

Result<std::optional<NullFill>> read_nulls(const Uri& uri) {
  const UriKey* key = uri.find(kNullsKey.name);
  if (key == nullptr || key->value == "error") return std::optional<NullFill>();
  const std::string_view value = key->value;
  if (value == "mask") return std::optional(NullFill{0, 0, key->value_column, true});
  if (value.starts_with("fill(") && value.ends_with(')')) {
    const std::string_view number = trim(value.substr(5, value.size() - 6));
    NullFill fill{0, parse_i64(number), key->value_column};
    const std::optional<double> real = fill.whole ? static_cast<double>(*fill.whole) : parse_f64(number);
    if (real) {
      fill.number = *real;
      return std::optional(fill);
    }
  }
  return uri_error(key->value_column, "nulls='", key->value, "': expected error, fill(NUMBER) or mask");
}

Status check_fill(const NullFill& fill, const Field& field) {
  std::byte room[8];
  if (field.kind == FieldKind::kRagged || store_fill(fill, field.dtype, room)) return Status::ok();
  const std::string number = fill.whole ? std::to_string(*fill.whole) : std::to_string(fill.number);
  return uri_error(fill.column, "nulls: field '", field.name, "' is ", field_type_text(field),
                   ", which cannot hold ", number);
}

void write_fill(const NullFill& fill, const Field& field, std::byte* out) {
  const int64_t item_bytes = dtype_bytes(field.dtype), bytes = field.bytes();
  for (int64_t at = 0; at < bytes; at += item_bytes) store_fill(fill, field.dtype, out + at);
}

}  // namespace dataline
