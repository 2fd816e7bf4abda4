// Chunks whose items LitData has compressed within the file (compression_level "batch", what zstd alone means, and "sample"): made
// into what they would be without that, in memory.
//
// Source: LitData 0.2.76, framed_zstd.py.
//   batches   0             "LDFZ01\0\0", u16 version 1, u16 flags 0, u32 n items, u32 items of a batch, u32 batches
//             24            u32 offsets[n + 1]: of the items when they are inflated, from 0
//             28 + 4 n      of each batch: u32 its first item, u32 its items, u64 where its frame begins, u32 bytes of that, u32 inflated
//   items     as without compression (column_shard.h), but each item is a frame
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/source/shards/shard_file.h"

namespace dataline {

// kTruncated, kCorrupt (tables that contradict the file, themselves or the index; damaged frames), kUnsupported (another version; no
// Zstandard in this build), kTooLarge (more than 4 GiB inflated), kNoMemory, kOverBudget, kCancelled.
Result<MappedFile> unpack_litdata_batches(const MappedFile& file, const ShardEntry& entry,
                                          const OpenContext& context);
Result<MappedFile> unpack_litdata_items(const MappedFile& file, const ShardEntry& entry,
                                        const OpenContext& context);

}  // namespace dataline
