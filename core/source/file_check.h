// Checks that a file still holds the bytes a batch was given: before the first record of the batch is located, so that a
// truncated file is an error instead of SIGBUS, and after the last one was copied, because what is truncated during the
// copy reads as zeros.
//
// Cost: at most one lseek before and one fstat after a batch per file that it reads from. A check counts for every batch,
// of any loader, that was opened (or copied) before the check began.
// Threads: any.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

#include "core/memory/mapped_file.h"
#include "core/source/source.h"

namespace dataline {

struct FileExtent {
  int64_t offset, bytes;
};

class FileCheck {
 public:
  FileCheck() = default;

  // Whether the file is as long as at open. If not, each record has to be faulted in separately. Also records that a
  // batch opened at that time reads from this file.
  bool before(const MappedFile& file, int64_t opened_ns) const;
  // True if the batch did not read from this file, or the file was unchanged since open when the batch had been copied.
  bool unchanged(const MappedFile& file, const ReadSpan& span) const;
  // Fails the records of the run that are gone or may have been changed.
  template <typename ExtentOf>
  void confirm(const MappedFile& file, const ReadSpan& span, Run& run, ExtentOf extent_of) const {
    const MappedFile::Look look = looked_after(file, span);
    if (look.status.is_ok() && !file.faulted(span.opened_ns)) return;
    for (int64_t i = 0; i < run.count; ++i) {
      const FileExtent extent = extent_of(run.indices[i]);
      Status status =
          look.status.is_ok() ? Status::ok() : file.check_range(look, extent.offset, extent.bytes);
      if (status.is_ok()) status = file.check_faults(span.opened_ns, extent.offset, extent.bytes);
      if (!status.is_ok()) {
        run.errors->fail(i, std::move(status).with_sample(run.indices[i]));
      }
    }
    file.heal();
  }

 private:
  MappedFile::Look looked_after(const MappedFile& file, const ReadSpan& span) const;

  // Start times of the latest checks: one that found the file as long as at open, one that found it unchanged (hence also
  // as long), and any. Stored after the check, so that nobody relies on one still in progress. They only grow. Relaxed:
  // they publish nothing, and a reader that misses a store only checks again.
  mutable std::atomic<int64_t> long_ns_{-1}, same_ns_{-1}, checked_ns_{-1};
};

}  // namespace dataline
