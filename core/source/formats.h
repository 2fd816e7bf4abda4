// The table of URI schemes: which keys each takes, which files of a directory are its own, how one is opened.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "core/memory/mapped_file.h"
#include "core/source/source.h"
#include "core/source/uri.h"

namespace dataline {

// Opens one file (or the one directory, for formats that are one) with the keys already read.
using OpenOne = std::function<Result<SourceRef>(const std::string& path, const OpenContext& context)>;

struct Format {
  std::string_view name;
  std::span<const std::string_view> keys = {};
  bool takes_axes = false;  // the key `axes`, beside `keys`
  // Reads the keys; kBadUri with column.
  Result<OpenOne> (*configure)(const Uri& uri);
  // Whether a file of a directory is of this format, by its name and, where that does not tell, its first
  // bytes. Null: a path is handed to the opener as it is.
  bool (*is_member)(const std::string& directory, std::string_view file_name,
                    const OpenContext& context) = nullptr;
  std::string_view members = {};  // the same in words: "*.npy"
  bool ranges = false;            // {000..127} in a path stands for that many files
};

std::span<const Format> formats();
const Format* find_format(std::string_view name);  // null when unknown
std::span<const std::string_view> format_names();

}  // namespace dataline
