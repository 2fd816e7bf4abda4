// The base of sources whose records are in one file. It checks that the file still holds the bytes a batch was given:
// before the first record of the batch is located, so that a truncated file is an error instead of SIGBUS, and after the
// last one was copied, because what is truncated during the copy reads as zeros.
//
// Cost: at most one lseek before and one fstat after a batch per file that it reads from. A check counts for every batch,
// of any loader, that was opened (or copied) before the check began.
// Threads: any.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

#include "core/memory/mapped_file.h"
#include "core/source/source.h"

namespace dataline {

struct FileExtent {
  int64_t offset, bytes;
};

class FileSource : public Source {
 public:
  const Schema& schema() const final { return schema_; }
  SourceInfo info() const final { return info_; }
  bool unchanged(const ReadSpan& span) const final;
  void confirm(Run& run, const ReadSpan& span) const final;
  void advise(std::span<const int64_t> indices) const override;  // consecutive records together
  void advise_block(int64_t first, int64_t count) const override;
  bool cached(int64_t index) const override;
  bool calls_host() const final { return file_.calls_host(); }

 protected:
  FileSource(MappedFile file, Schema schema, SourceInfo info);

  // From a record's first byte to its last.
  virtual FileExtent extent_of(int64_t index) const = 0;
  // The parts of the file that hold the record, where others lie between them.
  virtual void append_extents(int64_t index, std::vector<FileExtent>& out) const {
    out.push_back(extent_of(index));
  }
  // Whether the file is as long as at open. If not, each record has to be faulted in separately. Also records that a
  // batch opened at that time reads from this file.
  bool check_before(int64_t opened_ns) const;

  const MappedFile file_;
  const Schema schema_;
  const SourceInfo info_;

 private:
  MappedFile::Change looked_after(const ReadSpan& span) const;

  // Start times of the latest checks: one that found the file as long as at open, one that found it unchanged (hence also
  // as long), and any. Stored after the check, so that nobody relies on one still in progress. They only grow. Relaxed:
  // they publish nothing, and a reader that misses a store only checks again.
  mutable std::atomic<int64_t> long_ns_{-1}, same_ns_{-1}, checked_ns_{-1};
};

}  // namespace dataline
