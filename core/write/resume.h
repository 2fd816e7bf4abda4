// What of a set was written before: by a writer that was killed, or failed.
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
// removed: files of later shards, temporary ones. Reads every byte of the shards.
// kStateRefused: the directory has finished shards of another job. kCorrupt: its manifest.
Result<WrittenShards> find_written_shards(const OutputDirectory& directory, const ManifestHead& head,
                                          std::string_view suffix);

}  // namespace dataline
