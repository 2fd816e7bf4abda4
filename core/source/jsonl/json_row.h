// Reads the fields of one line.
// Threads: one at a time.
// Cost: one pass over the line. Strings without escapes are not copied.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/source/json.h"
#include "core/source/jsonl/json_fields.h"
#include "core/source/text_records.h"

namespace dataline {

// What a line is read for. Made once, at open.
struct JsonRowPlan {
  std::vector<TextField> fields;
  std::vector<std::pair<std::string, size_t>> by_name;  // sorted
  std::optional<NullFill> fill = {};

  static JsonRowPlan of(std::vector<TextField> fields, std::optional<NullFill> fill);
};

class JsonRowReader {
 public:
  explicit JsonRowReader(const JsonRowPlan& plan) : plan_(plan) {}

  // `rooms` and `cells`: one a field. kCorrupt: no JSON, not the declared type or
  // count, missing, null, given twice, not UTF-8; kOutOfRange: a number that the dtype cannot hold; kTooLarge.
  Status read(JsonReader& json, std::span<const ValueRoom> rooms, std::span<ValueCell> cells);

 private:
  Status read_object(size_t prefix, int depth);
  Status read_member(size_t length, int depth);
  Status read_key(size_t prefix, size_t& length);
  Status read_field(size_t field);
  Status read_text(size_t field);
  Status read_numbers(const Field& field, size_t dim, std::byte*& out);
  Status read_ragged(size_t field);
  Status read_number(const Field& field, std::byte* out);
  Status fill_missing();
  bool is_within(std::string_view prefix) const;
  template <typename... Parts>
  Status wrong(const Field& field, const Parts&... parts) const;

  const JsonRowPlan& plan_;
  JsonReader* json_ = nullptr;
  std::span<const ValueRoom> rooms_;
  std::span<ValueCell> cells_;
  std::bitset<kMaxTextFields> given_;
  std::array<char, kMaxTextFieldName + 1> path_{};  // of the value that is read; longer paths are no field's
};

}  // namespace dataline
