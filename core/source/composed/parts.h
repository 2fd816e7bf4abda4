// Helpers of composed sources: their parts, and the pieces of a run that are passed on to them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
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

// The base of datasets composed of parts.
class Composed : public Source {
 public:
  const Schema& schema() const final { return schema_; }
  SourceInfo info() const final;  // with the parts' notes, without duplicates
  const SourceFacts& facts() const final { return facts_; }
  void identify(IdentityBuilder& identity) const final;

 protected:
  Composed(std::string_view format, std::vector<Part> parts, Schema schema)
      : format_(format), parts_(std::move(parts)), schema_(std::move(schema)), facts_(joined_facts(parts_)) {}

  // place_of() of a part's record. Without a file, the name of the part takes its place.
  Place place_in_part(size_t part, int64_t record, size_t column) const;

  const std::string_view format_;
  const std::vector<Part> parts_;
  const Schema schema_;

 private:
  static SourceFacts joined_facts(const std::vector<Part>& parts);

  const SourceFacts facts_;
};

// All parts must have the fields of the first: names, kinds, dtypes, shapes, and axes where both are known. kMismatch names
// both parts and the difference.
Status check_fields(const std::vector<Part>& parts, std::string_view what);

// The names alone.
Status check_same_names(const std::vector<Part>& parts, std::string_view what);

// Labels number the classes of their own part, so all parts with classes must have the same ones. kMismatch names both.
Status check_classes(const std::vector<Part>& parts, std::string_view what);

// There must be at least one part, and each must have a known number of samples: kUnsupported names one that streams.
Status check_parts(const std::vector<Part>& parts, std::string_view what);

// The largest sample of both, if both are known.
inline void merge_max_bytes(const Field& other, Field& field) {
  const bool known = field.max_bytes >= 0 && other.max_bytes >= 0;
  field.max_bytes = known ? std::max(field.max_bytes, other.max_bytes) : -1;
}

// Whether two sources hold their fields in the same columns at the same offsets.
bool same_layout(const Schema& a, const Schema& b);

// The source with a column per field; itself if it has that layout already. kInternal for a schema whose columns are not
// numbered in the order of the fields that first use them (none of ours).
Result<SourceRef> with_column_per_field(SourceRef source);

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
