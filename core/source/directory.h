// Paths and directories, as datasets see them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "core/base/status.h"

namespace dataline {

bool path_exists(const std::string& path);

// Whether the path is a directory; kNotFound, kPermission, ... where that is unknown.
Result<bool> is_directory(const std::string& path);

// Names of everything in a directory except subdirectories and hidden files, in natural order: part-2 before part-10.
// Includes what is not a regular file: opening it is an error, while skipping it would silently lose a shard.
Result<std::vector<std::string>> list_files(const std::string& directory);

// Names of the subdirectories, without hidden ones, in natural order.
Result<std::vector<std::string>> list_directories(const std::string& directory);

std::string join_path(std::string_view directory, std::string_view name);

}  // namespace dataline
