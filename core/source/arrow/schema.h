// The schema of an Arrow file: its columns as a tree of types.
// Source: Schema.fbs of Apache Arrow's format (columnar format 1.5, metadata V5); fields by their numbers there.
// Threads: values.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/status.h"
#include "core/source/arrow/flatbuffer.h"

namespace dataline {

// The members of the union `Type`.
enum class ArrowType : uint8_t {
  kNone = 0,
  kNull = 1,
  kInt = 2,
  kFloat = 3,
  kBinary = 4,
  kUtf8 = 5,
  kBool = 6,
  kDecimal = 7,
  kDate = 8,
  kTime = 9,
  kTimestamp = 10,
  kInterval = 11,
  kList = 12,
  kStruct = 13,
  kUnion = 14,
  kFixedSizeBinary = 15,
  kFixedSizeList = 16,
  kMap = 17,
  kDuration = 18,
  kLargeBinary = 19,
  kLargeUtf8 = 20,
  kLargeList = 21,
  kRunEndEncoded = 22,
  kBinaryView = 23,
  kUtf8View = 24,
  kListView = 25,
  kLargeListView = 26,
};

struct ArrowDictionaryType {
  int64_t id = 0;
  int64_t index_bytes = 4;
  bool index_signed = true;
};

struct ArrowField {
  std::string name;
  ArrowType type = ArrowType::kNone;
  int64_t bits = 0;       // of a value of fixed width
  bool is_signed = true;  // kInt
  int64_t size = 0;       // kFixedSizeList: items; kFixedSizeBinary: bytes
  int32_t unit = 0;       // of times: Schema.fbs's; of unions: 1 is dense
  std::string time_zone = {};
  std::optional<ArrowDictionaryType> dictionary = {};
  std::string extension = {}, extension_metadata = {};
  std::vector<ArrowField> children = {};
};

// As pyarrow spells it: "timestamp[us, tz=UTC]", "list<item: int32>", "dictionary<values=string, indices=int8>".
std::string arrow_type_text(const ArrowField& field);

// The columns. kCorrupt: a schema that contradicts itself; kUnsupported: numbers in the other byte order, a type that this
// release does not know; kTooLarge: more than 65,536 fields, or a tree deeper than 64.
Result<std::vector<ArrowField>> read_arrow_schema(const FlatTable& schema);

}  // namespace dataline
