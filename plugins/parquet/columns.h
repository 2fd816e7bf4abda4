// Columns of a Parquet file in Arrow's types: which become fields, and where the values of decoded ones lie.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <arrow/api.h>
#include <parquet/arrow/schema.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "parquet_file.h"

namespace dataline_parquet {

struct PlannedColumn {
  PqField field;
  std::shared_ptr<arrow::DataType> type;  // of the leaf
  std::vector<int> path;                  // child by child, from the schema's fields down
  std::vector<int> below;                 // the path in what is read: numbers among the chosen siblings
  std::vector<int> leaves;                // its columns in the file: one
  bool fills = false;                     // nulls=fill(V), nulls=mask
  bool fills_items = false;               // nulls inside a value too
  bool is_mask = false;                   // a bool: whether the column of that path is not null
  std::vector<uint8_t> fill;              // V as an element; empty: the field cannot have it
};

struct Plan {
  std::vector<PlannedColumn> columns;
  // One entry for each top-level column of which something is wanted.
  struct Top {
    std::string name;
    std::vector<int> leaves;      // Parquet's columns, ascending
    std::vector<size_t> columns;  // in `columns`
  };
  std::vector<Top> tops;
};

Failure plan_columns(const std::string& path, const std::vector<parquet::arrow::SchemaField>& fields,
                     const FileOptions& options, Plan* out);

// The values of a column, of one Arrow array. A unit is what one number finds: a row of a dense field, an item of a ragged
// one. Immutable once made; keeps the arrays and buffers it points into.
class Values {
 public:
  // `structs_valid`: a byte per row, 0 where a struct around the value is null; may be null.
  Failure make(const PlannedColumn& column, const std::shared_ptr<arrow::Array>& array,
               const uint8_t* structs_valid, arrow::MemoryPool* pool);
  Failure find(const PlannedColumn& column, int64_t row, const uint8_t** data, int64_t* bytes) const;
  // Group::plain().
  const uint8_t* plain(const PlannedColumn& column) const;
  int64_t rows() const { return rows_; }

 private:
  Failure make_mask(arrow::MemoryPool* pool);
  Failure make_dense(const PlannedColumn& column, const std::shared_ptr<arrow::Array>& array,
                     int64_t unit_values, arrow::MemoryPool* pool);
  Failure make_ragged(const PlannedColumn& column, const std::shared_ptr<arrow::Array>& array,
                      arrow::MemoryPool* pool);
  Failure mark_items(const PlannedColumn& column, const arrow::Array& level, int64_t per_unit,
                     int64_t level_bytes, arrow::MemoryPool* pool);
  Failure own_data(const PlannedColumn& column, arrow::MemoryPool* pool);

  std::shared_ptr<arrow::Array> array_;
  int64_t rows_ = 0, units_ = 0;
  const uint8_t* data_ = nullptr;
  uint8_t* own_ = nullptr;              // data_, if it was copied to be filled
  const int32_t* offsets32_ = nullptr;  // ragged: one of the two
  const int64_t* offsets64_ = nullptr;
  std::shared_ptr<arrow::Buffer> data_buffer_, null_buffer_, item_buffer_;
  const uint8_t* null_rows_ = nullptr;               // a byte per row; no pointer: none is null
  uint8_t* null_items_ = nullptr;                    // a byte per unit
  std::shared_ptr<arrow::DictionaryArray> indices_;  // then the values are those of its dictionary
  std::shared_ptr<Values> dictionary_;
  std::vector<uint8_t> filled_row_;  // what a null among the indices of a dense field is
};

}  // namespace dataline_parquet
