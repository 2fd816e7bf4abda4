// Which format a bare path holds: by content, then by suffix.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "core/memory/mapped_file.h"

namespace dataline {

// The format's name in the table of formats. A directory is that of a known data set (MNIST, CIFAR) if it
// holds their usual files, else it has the format of its first recognised file. kBadUri when nothing is
// recognised, saying how to name a format; kUnsupported for formats that are known and not read, by name;
// file errors.
Result<std::string_view> detect_format(const std::string& path, const OpenContext& context);

}  // namespace dataline
