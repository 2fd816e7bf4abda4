// The base of sources whose records are in one file. It checks that the file still holds the bytes a batch was given:
// before the first record of the batch is located, so that a truncated file is an error instead of SIGBUS, and after the
// last one was copied, because what is truncated during the copy reads as zeros. What that costs: watched_file.h.
//
// Threads: any.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/base/atomic.h"
#include "core/memory/mapped_file.h"
#include "core/source/leaf_source.h"
#include "core/source/watched_file.h"

namespace dataline {

struct FileExtent {
  int64_t offset, bytes;
};

class FileSource : public LeafSource {
  // Here, because file_ refers to them. A file of its own lies in the source itself: with thousands of shards each locate()
  // would miss the cache once more.
  const std::optional<WatchedFile> own_;
  const WatchedFileRef shared_;
  const WatchedFile& watched_;  // one of the two

 public:
  const Schema& schema() const final { return schema_; }
  SourceInfo info() const final { return info_; }
  const SourceFacts& facts() const final;
  bool unchanged(const ReadSpan& span) const final { return watched_.unchanged(span); }
  void confirm(Run& run, const ReadSpan& span) const final;
  void advise(std::span<const int64_t> indices) const override;  // consecutive records together
  void advise_block(int64_t first, int64_t count) const override;
  bool cached(int64_t index) const override;
  std::optional<uint64_t> stamp(int64_t) const final;

 protected:
  FileSource(MappedFile file, Schema schema, SourceInfo info);
  FileSource(WatchedFileRef file, Schema schema, SourceInfo info);

  // From a record's first byte to its last.
  virtual FileExtent extent_of(int64_t index) const = 0;
  // The parts of the file that hold the record, where others lie between them.
  virtual void append_extents(int64_t index, std::vector<FileExtent>& out) const {
    out.push_back(extent_of(index));
  }
  // Before a record is called corrupt: that its bytes are still the file's. kTruncated, kChanged.
  Status check_unchanged(int64_t index) const;
  // WatchedFile's.
  bool check_before(int64_t opened_ns) const { return watched_.check_before(opened_ns); }

  const MappedFile& file_;
  const Schema schema_;
  const SourceInfo info_;

 private:
  mutable Atomic<uint64_t> stamp_{
      0};  // local_stamp() of the file; 0: nobody has asked. Relaxed: all find the same
};

}  // namespace dataline
