// A piece of a run, handed on to a source that this one is made of. Nothing is allocated until a row fails.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <utility>

#include "core/base/checked.h"
#include "core/source/source.h"

namespace dataline {

// Shifts the run's column arrays to row `first` while it lives, so that a part writes its rows in place.
class ColumnShift {
 public:
  ColumnShift(Run::ColumnRows* columns, size_t column_count, int64_t first)
      : columns_(columns), column_count_(column_count), first_(first) {
    move(first_);
  }
  ~ColumnShift() { move(-first_); }
  ColumnShift(const ColumnShift&) = delete;
  ColumnShift& operator=(const ColumnShift&) = delete;

 private:
  void move(int64_t rows) {
    for (size_t c = 0; c < column_count_; ++c) {
      columns_[c].data += rows;
      columns_[c].bytes += rows;
    }
  }

  Run::ColumnRows* columns_;
  size_t column_count_;
  int64_t first_;
};

// Moves a piece's failures to the run: piece row r is run row rows[r], or first + r without `rows`. The
// sample named is the run's, not the part's.
inline void merge_errors(RowErrors& piece, Run& run, int64_t first, const uint8_t* rows) {
  for (RowError& failed : piece.all()) {
    int64_t row = rows != nullptr ? rows[failed.row] : first + failed.row;
    run.errors->fail(row, std::move(failed.status).with_sample(run.indices[row]));
  }
}

// Asks a part about one record of the run: row `row`, which is record `inner` of the part.
inline void confirm_record(const Source& part, int64_t inner, Run& run, int64_t row, const ReadSpan& span) {
  RowErrors errors;
  Run record;
  record.count = 1;
  record.indices = &inner;
  record.errors = &errors;
  part.confirm(record, span);
  if (!errors.empty()) merge_errors(errors, run, row, nullptr);
}

// Scratch of the parts a source is made of. Almost always it does not depend on max_bytes_per_sample, and
// asking thousands of parts for each run would be dear: the answer is kept.
class PartScratch {
 public:
  PartScratch() = default;
  explicit PartScratch(const Source& part) : part_(&part), bytes_(rounded(0)) {
    constexpr int64_t kAnySize = int64_t{1} << 40;
    varies_ = rounded(kAnySize) != bytes_;
  }
  int64_t bytes(int64_t max_bytes_per_sample) const {
    return varies_ ? rounded(max_bytes_per_sample) : bytes_;
  }
  bool varies() const { return varies_; }

 private:
  // A multiple of 64, so that what follows stays aligned.
  int64_t rounded(int64_t max_bytes_per_sample) const {
    return round_up(part_->scratch_bytes(max_bytes_per_sample), 64);
  }

  const Source* part_ = nullptr;  // outlives this object
  int64_t bytes_ = 0;
  bool varies_ = false;
};

}  // namespace dataline
