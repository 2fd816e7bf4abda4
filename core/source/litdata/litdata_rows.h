// Chunks of a LitData set whose items are rows of an Arrow file: so LitData writes dicts of texts, bytes, numbers, lists and dicts
// where pyarrow is installed.
//
//   0          u32 n, u32 offsets[n + 1], and items as in other chunks, or none: then all offsets are where the table ends
//   offsets[n] an Arrow file, of older releases a stream, of n rows
//   end - 12   u32 its bytes, "LDARW01\0"
// Source: LitData 0.2.76, append_arrow_row_footer() of its item loader and BinaryWriter.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/memory/mapped_file.h"
#include "core/source/arrow/arrow.h"
#include "core/source/file_source.h"
#include "core/source/shards/shard_file.h"

namespace dataline {

// Where the Arrow file of a chunk lies; nothing: it has none. kCorrupt: its length leaves no room for it. kTruncated, kIo.
Result<std::optional<FileExtent>> find_litdata_rows(const MappedFile& file, int64_t samples);

// kCorrupt (no rows, or not so many as the index says); what open_shard_file() and open_arrow_within() say.
Result<SourceRef> open_litdata_rows(const std::string& directory, const ShardEntry& entry,
                                    const ArrowOptions& options, const OpenContext& context);

}  // namespace dataline
