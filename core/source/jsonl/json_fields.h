// The fields of JSON lines: declared by the URI, or inferred from the first line.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/field.h"
#include "core/base/status.h"
#include "core/source/json.h"
#include "core/source/uri.h"

namespace dataline {

constexpr size_t kMaxJsonFields = 64;
constexpr size_t kMaxJsonName =
    255;  // bytes of a field's name: "meta/lang" is the value of lang in the object meta

struct JsonField {
  Field field;
  bool is_text = false;  // a string; delivered as ragged u8
};

// `text:text,label:i64,box:f32[4],ids:i32[]`: strings, numbers (bool: true and false), arrays of a fixed and of any length.
// kBadUri with column.
Result<std::vector<JsonField>> declared_json_fields(const UriKey& key);

struct InferredJson {
  std::vector<JsonField> fields;
  std::vector<std::string> left_out;  // "tags (an array of strings)"
};
// From one object: strings are text; whole numbers i64, others f64; true and false bool; arrays of these numbers ragged; the
// members of an object have its name before theirs. Anything else, and null, says too little and is left out.
// kCorrupt (no JSON, no object), kUnsupported (too many fields, names that no field can have).
Result<InferredJson> infer_json_fields(JsonReader json);

// The number that JSON wrote, as the dtype. False: it does not fit (a fraction in an integer, out of range).
bool store_json_number(DType dtype, std::string_view text, bool whole, std::byte* out);

}  // namespace dataline
