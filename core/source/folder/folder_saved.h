// The index of a folder, saved in a file that the user names (index=FILE).
//
// It is used if it was made with the same keys and every directory is unchanged: device, inode and modification time in ns.
// A directory that changed within one clock tick of its file system before it was listed never counts as unchanged. Not
// detected: a file modified in place, which is reported when its sample is read.
// Format: little-endian; a header of 96 bytes with magic, version, lengths and a checksum of everything, then directories,
// class names, notes, class beginnings, sizes, and the PathTable. About 12 bytes per file.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "core/memory/atomic_file.h"
#include "core/source/folder/folder_index.h"

namespace dataline {

enum class SavedIndex {
  kAbsent,
  kFits,
  kStale,  // `why` says what has changed
};

struct SavedIndexState {
  SavedIndex state = SavedIndex::kAbsent;
  std::string why;
};

// Fills `index` if the file fits. kCorrupt and kTruncated, naming the file: it is damaged, or not one of our indexes (which
// keeps other files from being overwritten). Otherwise file errors.
Result<SavedIndexState> load_index(const std::string& file, const OpenDirectory& root,
                                   const FolderOptions& options, const OpenContext& context,
                                   FolderIndex& index);

// `walk_begin_ns`: wall-clock time before the first directory was listed.
Status save_index(AtomicFile file, const FolderTree& tree, const FolderOptions& options,
                  int64_t walk_begin_ns, const FolderIndex& index);

}  // namespace dataline
