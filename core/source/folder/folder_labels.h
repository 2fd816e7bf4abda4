// Indexing a list of files with their labels, .csv or .jsonl (labels/label_rows.h).
//
// Labels are either integers, used as they are, or names, sorted into classes; not both. Paths are relative to the folder.
// Failure: messages begin with "FILE: line 7: ". kCorrupt: a syntax error, a path that is not below the folder, a file named
// twice, numbers and names mixed. kOutOfRange: a number that i64 or u8 does not hold. kNotFound, kNotAFile,
// kPermission: the file that the line names.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/source/folder/folder.h"
#include "core/source/folder/folder_index.h"

namespace dataline {

// Reads options.label_file and looks up every file it names.
Status index_list(const OpenDirectory& root, const FolderOptions& options, const OpenContext& context,
                  FolderIndex& index);

}  // namespace dataline
