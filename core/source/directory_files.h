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

// `format` has is_member, or is the host's. kEmpty names what the directory has instead; kMismatch (Format::one_kind).
// Errors of the listing. The log gets the note.
Result<DirectoryFiles> directory_files(const Format& format, const std::string& path,
                                       const OpenContext& context);

}  // namespace dataline
