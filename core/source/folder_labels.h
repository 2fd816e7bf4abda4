// A list of files with their labels: .csv or .jsonl.
//
// What its rows are: label_rows.h. Labels are integers, taken as they are, or names, sorted into classes; not both. Paths are
// relative to the folder.
// Failure: errors begin with "FILE: line 7: " and say what was expected and what is there. kCorrupt: the text, a path
// that is not below the folder, a file named twice, numbers and names mixed. kOutOfRange: a number that i64 or u8 does
// not hold. kNotFound, kNotAFile, kPermission: the file that the line names.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/source/folder.h"
#include "core/source/folder_index.h"

namespace dataline {

// Reads options.label_file and looks at every file it names.
Status index_list(const OpenDirectory& root, const FolderOptions& options, const OpenContext& context,
                  FolderIndex& index);

}  // namespace dataline
