// What of a set was written before: by a writer that was killed, or failed. Files that no writer made are never removed.
// Threads: one at a time; the directory is locked.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/base/status.h"
#include "core/memory/output_directory.h"
#include "core/write/manifest.h"

namespace dataline {

struct WrittenShards {
  std::vector<ManifestShard> shards;
  int64_t manifest_bytes = 0;  // the lines that count; 0: none, not even the first
};

// The shards of the same job that are whole, up to the first one that is missing or is not what its line says. What a killed
// writer can have left behind them is removed: the later shards that the manifest lists, and the file of the shard after its last line,
// whole or not. Reads every byte of the shards.
// kStateRefused: the directory has finished shards of another job. kCorrupt: its manifest, also a file that is none. kWrongState, where
// a writer did not make what is there: files without a whole first line of a manifest, which is durable before any shard; a manifest or
// a shard that is no regular file (a link, a directory) or has a second name (a hard link); a shard that the manifest does not list.
// Nothing is removed then.
Result<WrittenShards> find_written_shards(const OutputDirectory& directory, const ManifestHead& head,
                                          std::string_view suffix);

}  // namespace dataline
