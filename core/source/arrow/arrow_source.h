// The rows of an open Arrow file. arrow.h says what they are; here is how a run of them is found.
//
// A run is cut into stretches: neighbouring rows of one batch. A column of a stretch is found with one look at its bitmaps and
// one at its offsets. What fails is tried again row by row, so that only the rows that are bad fail.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "core/source/arrow/batches.h"
#include "core/source/arrow/columns.h"
#include "core/source/arrow/values.h"
#include "core/source/file_source.h"
#include "core/source/nulls.h"

namespace dataline {

// How a column is delivered.
struct ArrowDelivery {
  bool plain = false;   // dense, stored as delivered, without nulls
  bool copies = false;  // into scratch
  bool nulls = false;   // some bitmap says that there are
  int64_t element_bytes = 1;
  ArrowFill fill = {};
  Block fill_row = {};  // of a dense field with nulls: what is delivered for a null
};

class ArrowSource final : public FileSource {
 public:
  ArrowSource(MappedFile file, Schema schema, SourceInfo info, ArrowPlan plan, ArrowTables tables,
              std::vector<ArrowDelivery> deliveries, std::optional<NullFill> fill);

  int64_t count() const override { return tables_.batches.rows(); }
  void locate(Run& run) const override;
  int64_t scratch_bytes(int64_t max_bytes_per_sample) const override;
  void append_blocks(int64_t block_bytes, BlockEnds& ends) const override;
  int64_t stored_bytes() const override { return stored_bytes_; }
  int64_t record_items(int64_t index) const override;
  Result<const std::byte*> locate_items(const Run& run, const ItemRange& range,
                                        std::byte* room) const override;
  void advise_items(const ItemRange& range) const override;
  void advise(std::span<const int64_t> indices) const override;
  void advise_block(int64_t first, int64_t count) const override;
  bool cached(int64_t index) const override;
  Place place_of(int64_t index, size_t column) const override;
  void fingerprint(Digest& digest) const override;

 private:
  // Rows [row, row + count) of a batch are rows [at, at + count) of the run. `number`: of the batch.
  struct Stretch {
    const int64_t* slots = nullptr;
    int64_t number = 0, row = 0, count = 0, at = 0;
  };
  // Where each row of a run lies.
  struct RunRows {
    std::array<const int64_t*, kMaxRunRecords> slots;
    std::array<int64_t, kMaxRunRecords> batches, rows;
  };
  struct Job {
    const ArrowAccess& access;
    Run& run;
    size_t column;
    std::byte* room;       // of the column
    int64_t row_capacity;  // of a row in it
  };

  FileExtent extent_of(int64_t index) const override;
  void append_extents(int64_t index, std::vector<FileExtent>& out) const override;
  // The same; with `whole`, the bytes of dictionaries too, and offsets are read though they may not be in memory.
  void append_extents(int64_t first, int64_t count, bool whole, std::vector<FileExtent>& out) const;
  void append_column(const int64_t* slots, const ArrowValues& values, int64_t rows, int64_t row,
                     int64_t count, bool whole, std::vector<FileExtent>& out) const;
  void append_decoded(const ArrowColumn& column, const Stretch& stretch, std::vector<FileExtent>& out) const;

  void find_rows(const Run& run, RunRows& rows) const;
  void locate_plain(Run& run, const RunRows& rows, size_t column) const;
  void locate_column(const Job& job, const RunRows& rows, RowSet& failed) const;
  Status place(const Job& job, const Stretch& stretch) const;
  Status place_values(const Job& job, const Stretch& stretch, const RowSet& nulls) const;
  Status place_dense(const Job& job, const Stretch& stretch) const;
  Status place_ragged(const Job& job, const Stretch& stretch, const RowSet& nulls) const;
  Status place_decoded(const Job& job, const Stretch& stretch, RowSet& nulls) const;
  void place_null(const Job& job, int64_t at) const;
  Status read_offsets(const ArrowAccess& access, size_t column, const Stretch& stretch,
                      int64_t* offsets) const;
  Result<const std::byte*> units_of(const ArrowAccess& access, size_t column, const Stretch& stretch,
                                    const ArrowUnits& units, std::byte* room) const;
  // Where the dictionary has the value of a row, whose index is given.
  Result<Stretch> decoded(size_t column, const Stretch& stretch, int64_t k, int64_t index) const;
  Stretch row_of(int64_t index) const;

  int64_t capacity(size_t column, int64_t max_bytes_per_sample) const;
  template <typename... Parts>
  Status bad_row(Code code, size_t column, const Stretch& stretch, int64_t k, int64_t offset,
                 const Parts&... parts) const {
    return error(code, file_.path(), ": offset ", offset, ": field '", schema_.fields[column].name,
                 "': record batch ", stretch.number, ", row ", stretch.row + k, ": ", parts...);
  }

  const ArrowPlan plan_;
  const ArrowTables tables_;
  const std::vector<ArrowDelivery> deliveries_;
  const std::optional<NullFill> fill_;  // of nulls; nothing: they are errors
  int32_t items_column_ = -1;           // of record_items()
  int64_t stored_bytes_ = 1;
};

}  // namespace dataline
