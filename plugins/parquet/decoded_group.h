// The decoded columns of one row group.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "arrow_input.h"
#include "columns.h"

namespace dataline_parquet {

class DecodedGroup final : public Group {
 public:
  DecodedGroup(const Plan& plan, int64_t limit) : pool_(limit), plan_(plan), values_(plan.columns.size()) {}

  int64_t bytes() const override { return pool_.bytes_allocated(); }
  const uint8_t* plain(size_t field) const override {
    const std::vector<Values>& chunks = values_[field];
    return chunks.size() == 1 ? chunks[0].plain(plan_.columns[field]) : nullptr;
  }
  size_t find(size_t field, std::span<const int64_t> rows, Found* out, Failure* failed) const override {
    const std::vector<Values>& chunks = values_[field];
    const PlannedColumn& column = plan_.columns[field];
    for (size_t i = 0; i < rows.size(); ++i) {
      int64_t row = rows[i];
      auto chunk = chunks.begin();
      while (chunk != chunks.end() && row >= chunk->rows()) row -= chunk++->rows();
      *failed = chunk == chunks.end() ? failure(DL_ERR_CORRUPT, "the row is missing")
                                      : chunk->find(column, row, &out[i].data, &out[i].bytes);
      if (*failed) return i;
    }
    return rows.size();
  }

  // Takes the chunks of one column of `table`, which has the chosen leaves of one top-level column alone.
  Failure take(size_t field, const std::shared_ptr<arrow::Table>& table, int64_t rows) {
    const PlannedColumn& column = plan_.columns[field];
    if (table->num_columns() != 1)
      return failure(DL_ERR_CORRUPT, "decoding returned ", table->num_columns(), " columns, expected 1");
    int64_t got = 0;
    for (const std::shared_ptr<arrow::Array>& chunk : table->column(0)->chunks()) {
      if (Failure failed = take_chunk(column, chunk, values_[field])) return failed;
      got += chunk->length();
    }
    if (got == rows) return {};
    return failure(DL_ERR_CORRUPT, "its pages hold ", got, " rows, the row group states ", rows);
  }

  LimitedPool& pool() { return pool_; }

 private:
  Failure take_chunk(const PlannedColumn& column, const std::shared_ptr<arrow::Array>& chunk,
                     std::vector<Values>& out) {
    std::shared_ptr<arrow::Array> array = chunk;
    std::vector<uint8_t> valid;  // by row: all structs around it are there
    for (size_t depth = 1; depth < column.below.size(); ++depth) {
      if (array->type_id() != arrow::Type::STRUCT)
        return failure(DL_ERR_CORRUPT, "decoding returned ", array->type()->ToString(),
                       ", expected a struct");
      const auto& around = static_cast<const arrow::StructArray&>(*array);
      if (around.null_count() > 0) {
        valid.resize(static_cast<size_t>(around.length()), 1);
        for (int64_t i = 0; i < around.length(); ++i)
          if (around.IsNull(i)) valid[static_cast<size_t>(i)] = 0;
      }
      if (column.below[depth] >= around.num_fields())
        return failure(DL_ERR_CORRUPT, "a leaf of its struct is missing");
      array = around.field(column.below[depth]);
    }
    const arrow::Status sound = array->Validate();
    if (!sound.ok()) return failure(DL_ERR_CORRUPT, sound.message());
    out.emplace_back();
    return out.back().make(column, array, valid.empty() ? nullptr : valid.data(), &pool_);
  }

  LimitedPool pool_;  // before what is in it
  const Plan& plan_;  // of the file, which the dataset keeps
  std::vector<std::vector<Values>> values_;
};

}  // namespace dataline_parquet
