// Whether a file still held the bytes that a batch was given: looked at before a batch's first record is located, so that
// a file that was cut is an error and no signal, and again after its last one was copied, because what is cut while it is
// copied reads as zeros.
//
// Cost: at most one lseek before and one fstat after a batch for each file that it reads from; a look counts for every batch,
// of any loader, that was opened (or was copied) before it began.
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

  // Whether the file is as long as at open; false: each record has to be made present by itself. Also takes note that a
  // batch opened then reads from this file.
  bool before(const MappedFile& file, int64_t opened_ns) const;
  // Whether the batch did not read from this file, or the file was still what it was at open when the batch was copied.
  bool unchanged(const MappedFile& file, const ReadSpan& span) const;
  // Fails the records of the run that are no longer there, or that nobody can vouch for.
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

  // When a look began that found the file as long as at open, or the same in all (which is as long, too), and when one
  // began at all. Relaxed throughout: they publish nothing, and who misses a store only looks once more. They only
  // grow; stored after the look, so that nobody goes on the word of one that is still under way.
  mutable std::atomic<int64_t> long_ns_{-1}, same_ns_{-1}, asked_ns_{-1};
};

}  // namespace dataline
