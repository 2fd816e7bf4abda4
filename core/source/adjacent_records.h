// The base of sources whose records lie in one file, one after another, each as long as it is: lines, documents, samples of a
// shard.
//
// Threads: immutable; every function may be called from several workers at once.
// Memory: 4 bytes a record (sorted_table.h).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/source/file_source.h"
#include "core/source/sorted_table.h"

namespace dataline {

// Record i lies between boundaries i and i + 1, which are counted in units from `origin`, behind the gap before it, if there is one. The
// caller has checked that all lie in the file.
struct RecordEnds {
  SortedTable ends;
  int64_t begin = 0;       // boundary 0
  int64_t origin = 0;      // a byte of the file
  int64_t unit_bytes = 1;  // of a unit

  // Units before a record that are not part of any: damaged ones that the caller of the opener leaves out.
  struct Gap {
    int64_t record, units;
  };
  std::vector<Gap> gaps = {};  // by record; at most one each

  int64_t count() const { return ends.size(); }
  int64_t boundary(int64_t i) const { return i == 0 ? begin : ends[i - 1]; }
  int64_t begin_of(int64_t i) const { return gaps.empty() ? boundary(i) : boundary(i) + gap_before(i); }
  int64_t units(int64_t i) const { return ends[i] - begin_of(i); }
  FileExtent extent(int64_t i) const { return {origin + begin_of(i) * unit_bytes, units(i) * unit_bytes}; }
  int64_t gap_before(int64_t i) const {
    const auto at = std::lower_bound(gaps.begin(), gaps.end(), i,
                                     [](const Gap& gap, int64_t r) { return gap.record < r; });
    return at != gaps.end() && at->record == i ? at->units : 0;
  }
  // Takes the last record away, and returns the gap before it.
  int64_t drop_last() {
    const int64_t gap = gap_before(count() - 1);
    if (gap > 0) gaps.pop_back();
    ends.drop_last();
    return gap;
  }
};

class AdjacentRecords : public FileSource {
 public:
  int64_t count() const final { return records_.count(); }
  // By the bytes of the records.
  void append_blocks(int64_t block_bytes, BlockEnds& ends) const final;
  int64_t stored_bytes() const final;

 protected:
  AdjacentRecords(MappedFile file, Schema schema, SourceInfo info, RecordEnds records)
      : FileSource(std::move(file), std::move(schema), std::move(info)), records_(std::move(records)) {}

  FileExtent extent_of(int64_t index) const final { return records_.extent(index); }

  const RecordEnds records_;
};

}  // namespace dataline
