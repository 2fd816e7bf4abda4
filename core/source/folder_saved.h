// The index of a folder in a file that the caller names (index=FILE).
//
// It is used when it was made with the same keys and every directory is the one it was, unchanged: device, inode and
// modification time in ns. A directory that changed within its file system's clock tick of being listed never counts as
// unchanged. What it does not see: a file written to in place, which its own sample tells when it is read.
// Format: little-endian; a header of 96 bytes with magic, version, lengths and a checksum of all, then directories,
// class names, notes, class beginnings, sizes, and the PathTable. About 12 bytes a file.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "core/memory/atomic_file.h"
#include "core/source/folder_index.h"

namespace dataline {

enum class SavedIndex {
  kAbsent,
  kFits,
  kStale,  // `why` says what is not as it was
};

struct SavedIndexState {
  SavedIndex state = SavedIndex::kAbsent;
  std::string why;
};

// Fills `index` when the file fits. kCorrupt and kTruncated, naming the file: one that is no index of ours, so that
// nobody's file is written over, or a damaged one. Else what the system says of reading it.
Result<SavedIndexState> load_index(const std::string& file, const OpenDirectory& root,
                                   const FolderOptions& options, const OpenContext& context,
                                   FolderIndex& index);

// `walk_begin_ns`: the clock (since 1970) before the first directory was listed.
Status save_index(AtomicFile file, const FolderTree& tree, const FolderOptions& options,
                  int64_t walk_begin_ns, const FolderIndex& index);

}  // namespace dataline
