// All formats, by name and by content.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/memory/mapped_file.h"
#include "core/source/format.h"

namespace dataline {

std::span<const Format* const> formats();
const Format* find_format(std::string_view name);  // null when unknown
std::vector<std::string_view> format_names();

// The format of a path without a scheme. A directory that holds the well-known files of a dataset (MNIST, CIFAR) is that
// dataset; otherwise it has the format of its first recognized file, or is a folder of images. kBadUri when nothing
// is recognized, with advice on how to name a format; kUnsupported names a known kind of file that is not read; kEmpty;
// file errors.
Result<const Format*> detect_format(const std::string& path, const OpenContext& context);

}  // namespace dataline
