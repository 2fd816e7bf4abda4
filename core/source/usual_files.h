// Finding the files of a well-known data set under the names they are published with.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "core/base/status.h"

namespace dataline {

// A data set's directory: the one given, or the one that its archive or torchvision makes inside it.
// `folders` are tried in order ("" is the one given) for one that holds any of `names`, plain or .gz.
// kNotFound says what was looked for; file errors name the path.
Result<std::string> find_usual_folder(const std::string& path, std::span<const std::string_view> folders,
                                      std::span<const std::string_view> names);

// The first of `names` in `folder` that is there, plain before .gz.
Result<std::string> find_usual_file(const std::string& folder, std::span<const std::string_view> names);

bool path_exists(const std::string& path);

}  // namespace dataline
