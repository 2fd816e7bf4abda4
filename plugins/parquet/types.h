// Arrow's types as the library's: which are read, as what elements, and the value that nulls=fill(V) puts there.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <arrow/api.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "parquet_file.h"

namespace dataline_parquet {

using TypeRef = std::shared_ptr<arrow::DataType>;
using ArrayRef = std::shared_ptr<arrow::Array>;

struct Element {
  int32_t dtype = 0;
  int64_t bytes = 0;
};

// What values of a type are delivered as; dtype 0 for types that are no element.
Element element_of(const arrow::DataType& type);

// Extension types are what they are stored as.
TypeRef stored(const TypeRef& type);
ArrayRef stored(const ArrayRef& array);

bool is_text(arrow::Type::type id);
bool is_a_list(arrow::Type::type id);
bool is_read(const TypeRef& type);

// V as an element of this dtype; false if it cannot be that.
bool store_fill(const Fill& fill, int32_t dtype, std::vector<uint8_t>& out);

bool is_utf8(const std::string& text);
// Whether a text can name a field: UTF-8 without the characters that the library escapes in messages (controls, separators of
// lines, characters that set the direction of text, the byte order mark).
bool is_name_text(const std::string& text);
// A text from a file, quoted and at most 64 bytes. NUL is escaped here, other characters by the library, which shows the message.
std::string printable(const std::string& text);

}  // namespace dataline_parquet
