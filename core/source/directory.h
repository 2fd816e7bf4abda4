// The files of a directory, as datasets see them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "core/base/status.h"

namespace dataline {

// Whether the path is a directory; kNotFound, kPermission and the like where that cannot be told.
Result<bool> is_directory(const std::string& path);

// Names of everything in it but directories and hidden files ('.' first), in natural order: part-2 before
// part-10. What is no regular file is listed too: opening it tells, silence would lose a shard.
Result<std::vector<std::string>> list_files(const std::string& directory);

// Names of the directories in it, hidden ones left out, in natural order.
Result<std::vector<std::string>> list_directories(const std::string& directory);

std::string join_path(std::string_view directory, std::string_view name);

}  // namespace dataline
