// A file that may be gzipped, where nothing inside says how long it is (CIFAR's records).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "core/memory/mapped_file.h"

namespace dataline {

// A .gz (by content) is inflated into memory, to the size that its trailer gives: one member, below 4 GiB.
// kCorrupt and kTruncated as gzip.h says.
Result<MappedFile> open_maybe_packed(const std::string& path, const OpenContext& context);

}  // namespace dataline
