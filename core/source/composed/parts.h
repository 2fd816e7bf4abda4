// Helpers of composed sources: their parts, and the pieces of a run that are passed on to them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/checked.h"
#include "core/source/composed/composed.h"
#include "core/source/source.h"

namespace dataline {

// What messages call parts[index]: its path, its name, or "part 3".
std::string part_text(const std::vector<Part>& parts, size_t index);

// Source::place_of() of a part's record. Without a file, the name of the part takes its place.
Place place_in_part(const std::vector<Part>& parts, size_t index, int64_t record, size_t column);

// Adds the notes of a part, without duplicates, up to kMaxPartNotes in all.
constexpr size_t kMaxPartNotes = 16;
void add_part_notes(const Part& part, std::vector<std::string>& notes);

// Source::classes() of the first part that has any; null if none has.
const std::vector<std::string>* first_classes(const std::vector<Part>& parts);

// All parts must have the fields of the first: names, kinds, dtypes, shapes, and axes where both are known. kMismatch names
// both parts and the difference.
Status check_fields(const std::vector<Part>& parts, std::string_view what);

// Labels number the classes of their own part, so all parts with classes must have the same ones. kMismatch names both.
Status check_classes(const std::vector<Part>& parts, std::string_view what);

// There must be at least one part, and each must have a known number of samples: kUnsupported names one that streams.
Status check_parts(const std::vector<Part>& parts, std::string_view what);

// Shifts the run's column arrays to row `first` during its lifetime, so that a part writes its rows in place.
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

// Moves the errors of a piece to the run: piece row r is run row rows[r], or first + r without `rows`. The sample becomes
// the run's.
inline void merge_errors(RowErrors& piece, Run& run, int64_t first, const uint8_t* rows) {
  for (RowError& failed : piece.all()) {
    int64_t row = rows != nullptr ? rows[failed.row] : first + failed.row;
    run.errors->fail(row, std::move(failed.status).with_sample(run.indices[row]));
  }
}

// Source::confirm() of a part for one record of the run: row `row`, which is record `inner` of the part.
inline void confirm_record(const Source& part, int64_t inner, Run& run, int64_t row, const ReadSpan& span) {
  RowErrors errors;
  Run record;
  record.count = 1;
  record.indices = &inner;
  record.errors = &errors;
  part.confirm(record, span);
  if (!errors.empty()) merge_errors(errors, run, row, nullptr);
}

// The scratch size of a part. It rarely depends on max_bytes_per_sample, and asking thousands of parts for every run would
// be slow, so the answer is cached.
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
  // A multiple of 64 keeps what follows aligned.
  int64_t rounded(int64_t max_bytes_per_sample) const {
    return round_up(part_->scratch_bytes(max_bytes_per_sample), 64);
  }

  const Source* part_ = nullptr;  // outlives this object
  int64_t bytes_ = 0;
  bool varies_ = false;
};

}  // namespace dataline
