// The manifest of a set that core/write wrote, as it is read: the file `dataline.manifest`, JSON lines that only grow while the set is
// written.
//
//   {"set": 1, "format": "arrow", "shard_bytes": N, "codec": "zstd" (where there is one), "fields": [{"name", "kind", "dtype", "shape", "axes"}], "job": TEXT}
//   {"shard": "part-00000.arrow", "samples": N, "bytes": N, "crc32c": "8 hex digits", "position": TEXT}     one a shard, in order
//   {"samples": N, "bytes": N, "shards": N}                                                               last: the set is whole
//
// A line counts when its end is there. `job` and `position` are the host's own texts.
// Threads: values and plain functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/status.h"
#include "core/source/names.h"

namespace dataline {

constexpr int64_t kMaxManifestBytes = int64_t{1} << 30;

struct ManifestShard {
  std::string name;
  int64_t samples = 0, bytes = 0;
  uint32_t crc32c = 0;
  std::string position;
};

struct ManifestEnd {
  int64_t samples = 0, bytes = 0, shards = 0;
};

struct Manifest {
  std::string head;                   // its line, without the end; empty: it is not whole
  std::string format;                 // of the head
  std::vector<ManifestShard> shards;  // of whole lines
  std::vector<int64_t> line_ends;     // bytes up to and with the line of each shard
  int64_t head_end = 0;
  std::optional<ManifestEnd> end;  // nothing: the set is not finished
  int64_t bytes_behind = 0;        // that follow the last line of a finished set, and are no part of it
};

// kCorrupt names line and byte: also for text that a writer does not begin a manifest with. A last line without its end is left out.
Result<Manifest> parse_manifest(const std::string& path, std::string_view text);

}  // namespace dataline
