// The fields of JSON lines that a URI does not declare: those of the first line.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "core/base/status.h"
#include "core/source/json.h"
#include "core/source/text_fields.h"

namespace dataline {

struct InferredJson {
  std::vector<TextField> fields;
  std::vector<std::string> left_out;  // "tags (an array of strings)"
};
// From one object: strings are text; whole numbers i64, others f64; true and false bool; arrays of these numbers ragged; the
// members of an object have its name before theirs ("meta/lang"). Anything else, and null, says too little and is left out.
// kCorrupt (no JSON, no object), kUnsupported (too many fields, names that no field can have).
Result<InferredJson> infer_json_fields(JsonReader json);

}  // namespace dataline
