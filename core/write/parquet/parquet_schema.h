// What fields are in a Parquet file: one column each, a scalar, bytes, or lists of values within one another.
//
// Nothing is null, as in the Arrow files that we write, so nothing is optional and readers have no validity to compute. One exception:
// the values of a tensor are, as Arrow restores arrow.fixed_shape_tensor, and with it shape and axes, from such lists alone. Whether
// bytes are text is not known of a field: they are binary, in both formats.
// Source: apache/parquet-format, LogicalTypes.md, parquet.thrift.
// Threads: plain functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/field.h"
#include "core/base/status.h"
#include "core/write/parquet/thrift_writer.h"

namespace dataline {

// Type of parquet.thrift.
enum class ParquetType : int32_t {
  kBoolean = 0,
  kInt32 = 1,
  kInt64 = 2,
  kFloat = 4,
  kDouble = 5,
  kByteArray = 6,
  kFixedBytes = 7
};

struct ParquetColumnType {
  ParquetType type = ParquetType::kInt32;
  // Whole numbers of 8 bits would take 32: they are stored as indices of a dictionary of all 256, one byte each.
  bool indexed = false;
  bool optional = false;       // the values
  std::vector<int64_t> lists;  // how long, outermost first; -1: it varies

  int max_repetition() const { return static_cast<int>(lists.size()); }
  int max_definition() const { return static_cast<int>(lists.size()) + (optional ? 1 : 0); }
};

ParquetColumnType parquet_column_type(const Field& field);

// What a row takes in pages at most, levels aside; at least 1. `bytes`: of the row as the host has it.
int64_t parquet_row_bytes(const Field& field, int64_t bytes);

// kUnsupported: a dtype that Parquet lacks, or rows that fit no page.
Status check_parquet_fields(const std::vector<Field>& fields);
// kTooLarge: a row that fits no page.
Status check_parquet_row(const Field& field, int64_t bytes, int64_t row);

// The list of SchemaElements, as field `number` of the struct that is open.
void put_parquet_schema(ThriftWriter& out, int number, const std::vector<Field>& fields);
// The path of the field's column.
void put_parquet_path(ThriftWriter& out, int number, const Field& field);

}  // namespace dataline
