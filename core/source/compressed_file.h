// Files that may be compressed as a whole, .gz and .zst: known by their first bytes, inflated into memory, where they stay.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "core/base/bytes.h"
#include "core/base/status.h"
#include "core/memory/mapped_file.h"

namespace dataline {

bool is_compressed(Bytes first);  // by its magic, or that of a skippable frame before it
// For the notes of an open dataset: "gzip: inflated into 1024 bytes of memory".
std::string inflated_note(Bytes first, const MappedFile& file);

// A .gz must inflate to the size that `gzip_size` finds in the compressed bytes; without `gzip_size` to any. A file that is not
// compressed is not loaded yet (MappedFile::open_unloaded). What gzip.h and frames.h say; kNoMemory, kOverBudget, kCancelled.
using InflatedSize = std::function<Result<int64_t>(const std::string& path, Bytes compressed)>;
Result<MappedFile> open_maybe_compressed(const std::string& path, const InflatedSize& gzip_size,
                                         const OpenContext& context);

}  // namespace dataline
