// The file of a shard, as its index describes it; inflated into memory where only a compressed one is there.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "core/base/status.h"
#include "core/memory/mapped_file.h"

namespace dataline {

struct ShardEntry {
  std::string name;   // relative to the index
  int64_t bytes = 0;  // of the file
  int64_t samples = 0;
  // The name of the file that is its compressed form, or ""; what made it, as the index calls it ("zstd:3"); its bytes, or -1.
  std::string compressed = {}, codec = {};
  int64_t compressed_bytes = -1;
  // Why the index cannot be right about this shard. Ok: nothing is known against it.
  Status wrong = {};
  // Where the file itself holds its samples compressed: makes of it what it would be without that, in memory.
  Result<MappedFile> (*unpack)(const MappedFile& file, const ShardEntry& entry,
                               const OpenContext& context) = nullptr;
};

constexpr const char* kInflatedShards = "compressed shards are decompressed into memory, and stay there";

// As long as the index says. Where it is not there but its compressed file is, that is read whole and inflated: Zstandard and gzip.
// kNotFound, kTruncated, kCorrupt, kNoMemory, kOverBudget, kCancelled; kUnsupported (another codec, one that is not built in).
Result<MappedFile> open_shard_file(const std::string& directory, const ShardEntry& entry,
                                   const OpenContext& context);

}  // namespace dataline
