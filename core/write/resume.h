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

// The shards of the same job that are whole, up to the first one that is missing or is not what its line says. What no line counts is
// removed: later shards, temporary files of shards, by the very names that the writer uses. Reads every byte of the shards.
// kStateRefused: the directory has finished shards of another job. kCorrupt: its manifest, also a file that is none. kWrongState: a
// directory that has files and no whole first line of a manifest, which is durable before any shard: a writer did not make it; a
// manifest or a shard that is no regular file (a link, a directory). Nothing is removed then.
Result<WrittenShards> find_written_shards(const OutputDirectory& directory, const ManifestHead& head,
                                          std::string_view suffix);

}  // namespace dataline
