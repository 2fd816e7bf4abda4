// The key `nulls` of formats whose records may lack a value: such a sample is bad, or a number stands for the value.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "core/base/field.h"
#include "core/base/status.h"
#include "core/source/uri.h"

namespace dataline {

inline constexpr KeySpec kNullsKey{
    "nulls", "error|fill(0)|mask", "error",
    "what a missing or null value becomes; error: a bad sample; fill(V): the number V, or an empty row of a "
    "ragged field; mask: 0 or an empty row, with false in an extra field NAME/valid"};

// nulls=fill(V), nulls=mask.
struct NullFill {
  double number = 0;
  std::optional<int64_t> whole = {};  // V, where it is a whole number
  int64_t column = 0;                 // in the URI
  bool mask = false;                  // V is 0, and fields say where; nulls inside a value are errors
};

// Nothing for nulls=error, and without the key. kBadUri with column.
Result<std::optional<NullFill>> read_nulls(const Uri& uri);

// Stores V as an element of the dtype; false: it has no such value.
bool store_fill(const NullFill& fill, DType dtype, std::byte* out);

// That a dense field can have this value; ragged ones become empty. kBadUri with column.
Status check_fill(const NullFill& fill, const Field& field);
// All elements of a sample of the field, which check_fill() has accepted.
void write_fill(const NullFill& fill, const Field& field, std::byte* out);

}  // namespace dataline
