// A file that was opened once and is looked at before and after each batch. Sources over parts of one file (the arrays of
// an .npz) share it, so that a batch costs one look for all of them.
//
// Cost: at most one lseek before and one fstat after a batch. A check counts for every batch, of any loader, that was
// opened (or copied) before the check began.
// Threads: any.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

#include "core/memory/mapped_file.h"
#include "core/source/source.h"

namespace dataline {

class WatchedFile {
 public:
  explicit WatchedFile(MappedFile file) : file_(std::move(file)) {}

  const MappedFile& file() const { return file_; }

  // Whether the file is as long as at open. If not, each record has to be faulted in separately. Also records that a
  // batch opened at that time reads from this file.
  bool check_before(int64_t opened_ns) const;
  // Source::unchanged().
  bool unchanged(const ReadSpan& span) const;
  // What became of the file, as known after the span.
  MappedFile::Change looked_after(const ReadSpan& span) const;

 private:
  MappedFile file_;
  // Start times of the latest checks: one that found the file as long as at open, one that found it unchanged (hence also
  // as long), and any. Stored after the check, so that nobody relies on one still in progress. They only grow. Relaxed:
  // they publish nothing, and a reader that misses a store only checks again.
  mutable std::atomic<int64_t> long_ns_{-1}, same_ns_{-1}, checked_ns_{-1};
};

using WatchedFileRef = std::shared_ptr<const WatchedFile>;

}  // namespace dataline
