// Nulls of Arrow columns: bitmaps in which a bit of 0 is a null, and what is delivered in place of one.
// Threads: values.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/dtype.h"
#include "core/base/status.h"

namespace dataline {

// What the key `nulls` says: `error` makes samples with nulls bad, `fill(V)` delivers V, or an empty row of ragged fields.
struct ArrowNullRule {
  bool fill = false;
  std::optional<int64_t> whole = {};  // V, if it is a whole number
  double number = 0;                  // V
  std::string text = {};              // V as given
};

// "error" or "fill(V)"; nothing for other texts.
std::optional<ArrowNullRule> parse_null_rule(std::string_view text);

// V as a value of this type; nothing where it is none.
struct ArrowFillValue {
  std::array<std::byte, 8> bytes{};
};
std::optional<ArrowFillValue> fill_value(const ArrowNullRule& rule, DType dtype);

// The bits of a f16 nearest to the value, even where two are.
uint16_t half_bits(double value);

// Writes the value over and over; `bytes` is a multiple of the size of an element.
void write_fill(const ArrowFillValue& value, int64_t element_bytes, int64_t bytes, std::byte* out);

inline bool bit_of(const std::byte* bits, int64_t i) {
  return (static_cast<int>(bits[i >> 3]) >> (i & 7) & 1) != 0;
}
// Bits [first, first + count) as bytes of 0 and 1.
void unpack_bits(const std::byte* bits, int64_t first, int64_t count, std::byte* out);
// The first bit of 0 in the range, counted from `first`; -1: none.
int64_t find_zero_bit(const std::byte* bits, int64_t first, int64_t count);

}  // namespace dataline
