// SPDX-License-Identifier: Apache-2.0
#include "core/source/arrow/nulls.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "core/base/bytes.h"
#include "core/base/text.h"

namespace dataline {
namespace {

template <typename T>
std::optional<ArrowFillValue> whole_as(const ArrowNullRule& rule) {
  if (!rule.whole) return std::nullopt;
  if (std::numeric_limits<T>::is_signed || *rule.whole < 0) {
    if (*rule.whole < static_cast<int64_t>(std::numeric_limits<T>::min())) return std::nullopt;
  }
  if (*rule.whole > 0 &&
      static_cast<uint64_t>(*rule.whole) > static_cast<uint64_t>(std::numeric_limits<T>::max()))
    return std::nullopt;
  const auto value = static_cast<T>(*rule.whole);
  ArrowFillValue out;
  std::memcpy(out.bytes.data(), &value, sizeof value);
  return out;
}

template <typename T>
ArrowFillValue value_of(T value) {
  ArrowFillValue out;
  std::memcpy(out.bytes.data(), &value, sizeof value);
  return out;
}

}  // namespace

std::optional<ArrowNullRule> parse_null_rule(std::string_view text) {
  if (text == "error") return ArrowNullRule{};
  if (!text.starts_with("fill(") || !text.ends_with(")")) return std::nullopt;
  const std::string_view value = text.substr(5, text.size() - 6);
  ArrowNullRule rule{true, parse_i64(value), 0, std::string(value)};
  if (rule.whole) {
    rule.number = static_cast<double>(*rule.whole);
    return rule;
  }
  if (value == "nan") {
    rule.number = std::numeric_limits<double>::quiet_NaN();
    return rule;
  }
  const std::optional<double> number = parse_f64(value);
  if (!number) return std::nullopt;
  rule.number = *number;
  return rule;
}

uint16_t half_bits(double value) {
  const auto sign = static_cast<uint16_t>(std::signbit(value) ? 0x8000 : 0);
  if (std::isnan(value)) return static_cast<uint16_t>(sign | 0x7e00);
  const double size = std::fabs(value);
  if (size >= 65520.0) return static_cast<uint16_t>(sign | 0x7c00);  // rounds to infinity
  if (size < 0x1p-14) {
    // Steps of 2^-24, to even: adding 2^28 leaves no smaller ones. 1024 of them are the smallest normal number.
    return static_cast<uint16_t>(sign | static_cast<uint16_t>((size + 0x1p28 - 0x1p28) * 0x1p24));
  }
  int exponent = 0;
  const double fraction = std::frexp(size, &exponent) * 0x1p11;  // 1024 .. 2048
  const auto rounded = static_cast<uint16_t>(fraction + 0x1p52 - 0x1p52);
  return static_cast<uint16_t>(sign | (((exponent + 13) << 10) + rounded));  // a carry goes into the exponent
}

std::optional<ArrowFillValue> fill_value(const ArrowNullRule& rule, DType dtype) {
  switch (dtype) {
    case DType::kBool:
      return rule.whole == 0 || rule.whole == 1 ? whole_as<uint8_t>(rule) : std::nullopt;
    case DType::kU8:
      return whole_as<uint8_t>(rule);
    case DType::kU16:
      return whole_as<uint16_t>(rule);
    case DType::kU32:
      return whole_as<uint32_t>(rule);
    case DType::kU64:
      return whole_as<uint64_t>(rule);
    case DType::kI8:
      return whole_as<int8_t>(rule);
    case DType::kI16:
      return whole_as<int16_t>(rule);
    case DType::kI32:
      return whole_as<int32_t>(rule);
    case DType::kI64:
      return whole_as<int64_t>(rule);
    case DType::kF16:
      return value_of(half_bits(rule.number));
    case DType::kF32:
      if (std::fabs(rule.number) > static_cast<double>(std::numeric_limits<float>::max()))
        return std::nullopt;
      return value_of(static_cast<float>(rule.number));
    case DType::kF64:
      return value_of(rule.number);
    default:
      return std::nullopt;
  }
}

void write_fill(const ArrowFillValue& value, int64_t element_bytes, int64_t bytes, std::byte* out) {
  for (int64_t at = 0; at < bytes; at += element_bytes)
    std::memcpy(out + at, value.bytes.data(), static_cast<size_t>(element_bytes));
}

void unpack_bits(const std::byte* bits, int64_t first, int64_t count, std::byte* out) {
  int64_t i = 0;
  for (; i < count && (first + i) % 8 != 0; ++i) out[i] = static_cast<std::byte>(bit_of(bits, first + i));
  for (; i + 8 <= count; i += 8) {
    // Byte k of the word keeps bit k; adding what is missing to 0x80 moves it to the top of its byte, without a carry.
    constexpr uint64_t kEach = 0x0101010101010101u, kBitOfEach = 0x8040201008040201u,
                       kMissing = 0x00406070787c7e7fu;
    const uint64_t spread = std::to_integer<uint64_t>(bits[(first + i) >> 3]) * kEach & kBitOfEach;
    uint64_t eight = ((spread + kMissing) >> 7) & kEach;
    if constexpr (std::endian::native == std::endian::big) eight = swap_bytes(eight);
    std::memcpy(out + i, &eight, sizeof eight);
  }
  for (; i < count; ++i) out[i] = static_cast<std::byte>(bit_of(bits, first + i));
}

int64_t find_zero_bit(const std::byte* bits, int64_t first, int64_t count) {
  int64_t i = 0;
  while (i < count) {
    const int64_t at = first + i;
    if (at % 8 == 0 && count - i >= 64 && load_native<uint64_t>(bits + at / 8) == ~uint64_t{0}) {
      i += 64;
    } else if (!bit_of(bits, at)) {
      return i;
    } else {
      ++i;
    }
  }
  return -1;
}

}  // namespace dataline
