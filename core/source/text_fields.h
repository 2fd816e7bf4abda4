// The fields of records that are text (JSON lines, CSV): strings and numbers, declared by the URI.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/field.h"
#include "core/base/status.h"
#include "core/source/uri.h"

namespace dataline {

constexpr size_t kMaxTextFields = 64;
constexpr size_t kMaxTextFieldName = 255;  // bytes

struct TextField {
  Field field;
  bool is_text = false;  // a string; delivered as ragged u8
};

Field text_field(std::string name);

// `text:text,label:i64,box:f32[4],ids:i32[]`: strings, numbers (bool: true and false), a fixed and any number of numbers.
// kBadUri with column.
Result<std::vector<TextField>> declared_text_fields(const UriKey& key);
// As `fields` would declare them: what was inferred, for `info`.
std::string text_of_fields(const std::vector<TextField>& fields);

// The most bytes that a field of these records can have.
int64_t most_text_bytes(const TextField& field, int64_t longest_record);

// A decimal number as the dtype; `whole`: it is written without fraction and exponent. False: it does not fit (a fraction in an
// integer, out of range).
bool store_number(DType dtype, std::string_view text, bool whole, std::byte* out);

}  // namespace dataline
