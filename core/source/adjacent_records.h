// The base of sources whose records lie in one file, one after another, each as long as it is: lines, documents, samples of a
// shard.
//
// Threads: immutable; every function may be called from several workers at once.
// Memory: 4 bytes a record (sorted_table.h).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <utility>

#include "core/source/file_source.h"
#include "core/source/sorted_table.h"

namespace dataline {

// Record i lies between boundaries i and i + 1, which are counted in units from `origin`. The caller has checked that all lie in
// the file.
struct RecordEnds {
  SortedTable ends;
  int64_t begin = 0;       // boundary 0
  int64_t origin = 0;      // a byte of the file
  int64_t unit_bytes = 1;  // of a unit

  int64_t count() const { return ends.size(); }
  int64_t boundary(int64_t i) const { return i == 0 ? begin : ends[i - 1]; }
  int64_t units(int64_t i) const { return ends[i] - boundary(i); }
  FileExtent extent(int64_t i) const { return {origin + boundary(i) * unit_bytes, units(i) * unit_bytes}; }
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
