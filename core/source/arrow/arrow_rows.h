// The rows of a table in Arrow's layout: where each lies, by the plan of its columns (columns.h) and the tables of its batches
// (batches.h). ArrowSource has them in a file, ArrowMemorySource in the host's memory.
//
// A run is cut into stretches: neighbouring rows of one batch. A column of a stretch is found with one look at its bitmaps and
// one at its offsets. What fails is tried again row by row, so that only the rows that are bad fail.
// Threads: immutable.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/source/arrow/batches.h"
#include "core/source/arrow/columns.h"
#include "core/source/arrow/delivery.h"
#include "core/source/arrow/values.h"
#include "core/source/nulls.h"
#include "core/source/source.h"

namespace dataline {

// Rows [row, row + count) of a batch are rows [at, at + count) of a run. `number`: of the batch.
struct ArrowStretch {
  const int64_t* slots = nullptr;
  int64_t number = 0, row = 0, count = 0, at = 0;
};

class ArrowRows {
 public:
  // Asked before a row is called corrupt: an error means that its bytes have changed. Null: they cannot.
  using Recheck = std::function<Status(int64_t index)>;

  // `name`: of the file, or what messages call the table.
  ArrowRows(std::string name, bool in_memory, ArrowPlan plan, ArrowTables tables,
            std::vector<ArrowDelivery> deliveries, std::optional<NullFill> fill);

  const ArrowPlan& plan() const { return plan_; }
  const ArrowTables& tables() const { return tables_; }
  int64_t count() const { return tables_.batches.rows(); }
  int64_t stored_bytes() const { return stored_bytes_; }
  ArrowStretch row_of(int64_t index) const;

  // The functions of Source.
  void locate(Run& run, const ArrowAccess& access, const Recheck& recheck) const;
  int64_t scratch_bytes(int64_t max_bytes_per_sample) const;
  void append_blocks(int64_t block_bytes, BlockEnds& ends) const;
  bool knows_items() const { return items_column_ >= 0; }
  int64_t record_items(int64_t index, const ArrowAccess& access) const;
  bool finds_items() const { return knows_items() && plan_.columns.size() == 1; }
  Result<const std::byte*> locate_items(const ItemRange& range, const ArrowAccess& access,
                                        std::byte* room) const;
  void identify(IdentityBuilder& identity) const;

 private:
  // Where each row of a run lies.
  struct RunRows {
    std::array<const int64_t*, kMaxRunRecords> slots;
    std::array<int64_t, kMaxRunRecords> batches, rows;
  };
  struct Job {
    const ArrowAccess& access;
    const Recheck& recheck;
    Run& run;
    size_t column;
    std::byte* room;       // of the column
    int64_t row_capacity;  // of a row in it
  };

  void find_rows(const Run& run, RunRows& rows) const;
  void locate_plain(const Job& job, const RunRows& rows) const;
  void locate_plain_ragged(const Job& job, const RunRows& rows, RowSet& failed) const;
  void place_or_fail(const Job& job, const ArrowStretch& row, RowSet& failed) const;
  void locate_column(const Job& job, const RunRows& rows, RowSet& failed) const;
  Status place(const Job& job, const ArrowStretch& stretch) const;
  Status place_values(const Job& job, const ArrowStretch& stretch, const RowSet& nulls) const;
  Status place_dense(const Job& job, const ArrowStretch& stretch) const;
  Status place_ragged(const Job& job, const ArrowStretch& stretch, const RowSet& nulls) const;
  Status place_views(const Job& job, const ArrowStretch& stretch, const RowSet& nulls) const;
  Result<ArrowView> view_of(const ArrowAccess& access, size_t column, const ArrowStretch& stretch,
                            int64_t k) const;
  Status place_decoded(const Job& job, const ArrowStretch& stretch, RowSet& nulls) const;
  void place_null(const Job& job, int64_t at) const;
  Status read_offsets(const ArrowAccess& access, size_t column, const ArrowStretch& stretch,
                      int64_t* offsets) const;
  Result<const std::byte*> units_of(const ArrowAccess& access, size_t column, const ArrowStretch& stretch,
                                    const ArrowUnits& units, std::byte* room) const;
  // Where the dictionary has the value of a row, whose index is given.
  Result<ArrowStretch> decoded(size_t column, const ArrowStretch& stretch, int64_t k, int64_t index) const;

  int64_t capacity(size_t column, int64_t max_bytes_per_sample) const;
  template <typename... Parts>
  Status bad_row(Code code, size_t column, const ArrowStretch& stretch, int64_t k, int64_t offset,
                 const Parts&... parts) const {
    return error(code, name_, in_memory_ ? "" : concat(": offset ", offset), ": field '",
                 plan_.columns[column].field.name, "': record batch ", stretch.number, ", row ",
                 stretch.row + k, ": ", parts...);
  }

  std::string name_;
  bool in_memory_;
  ArrowPlan plan_;
  ArrowTables tables_;
  std::vector<ArrowDelivery> deliveries_;
  std::optional<NullFill> fill_;  // of nulls; nothing: they are errors
  int32_t items_column_ = -1;     // of record_items()
  int64_t stored_bytes_ = 1;
};

}  // namespace dataline
