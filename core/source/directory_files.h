// The files that a directory in a URI means, by the rule of names.h.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "core/memory/mapped_file.h"
#include "core/source/format.h"

namespace dataline {

struct DirectoryFiles {
  std::vector<std::string> paths;  // in natural order of the names; at least one
  std::string note;                // what was left out; empty: nothing
};

// `format` has is_member. kEmpty names what the directory has instead; kMismatch (Format::one_kind).
// Errors of the listing. The log gets the note.
Result<DirectoryFiles> directory_files(const Format& format, const std::string& path,
                                       const OpenContext& context);

// The note for a directory that a format of the host's listed itself: files that are not of its kind, and subdirectories that
// none of the opened files is below. Empty: nothing, or the directory cannot be listed. The log gets it.
std::string left_out_beside(const Format& format, const std::string& path,
                            const std::vector<std::string>& opened, const OpenContext& context);

}  // namespace dataline
