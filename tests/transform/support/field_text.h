// Fields as tables of tests write them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "core/base/field.h"
#include "core/base/text.h"

namespace dataline {

// "image:u8[3x32x32]CHW"; "?" in front of the dtype: ragged.
inline Field field_from(std::string_view text) {
  Field field;
  const size_t colon = text.find(':');
  field.name = text.substr(0, colon);
  text.remove_prefix(colon + 1);
  if (text[0] == '?') field.kind = FieldKind::kRagged, text.remove_prefix(1);
  const size_t open = text.find('['), close = text.find(']');
  field.dtype = *dtype_from_name(text.substr(0, open));
  if (open == std::string_view::npos) return field;
  if (close > open + 1) field.shape = *parse_shape(text.substr(open + 1, close - open - 1));
  if (field.kind == FieldKind::kRagged) field.shape[0] = -1;
  field.axes = text.substr(close + 1);
  return field;
}

inline std::string written(const Field& field) {
  return concat(field.kind == FieldKind::kRagged ? "?" : "", field_type_text(field), field.axes);
}

}  // namespace dataline
