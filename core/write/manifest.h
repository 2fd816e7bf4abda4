// The manifest of a set: the file `dataline.manifest`, JSON lines that only grow while the set is written.
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
#include <string>
#include <string_view>
#include <vector>

#include "core/base/field.h"
#include "core/base/status.h"
#include "core/source/names.h"
#include "core/write/codec.h"

namespace dataline {

constexpr int64_t kMaxManifestBytes = int64_t{1} << 30;

struct ManifestHead {
  std::string format;
  int64_t shard_bytes = 0;
  WriteCodec codec = WriteCodec::kNone;
  std::vector<Field> fields;
  std::string job;
};

struct ManifestShard {
  std::string name;
  int64_t samples = 0, bytes = 0;
  uint32_t crc32c = 0;
  std::string position;
};

std::string head_line(const ManifestHead& head);
std::string shard_line(const ManifestShard& shard);
std::string end_line(int64_t samples, int64_t bytes, int64_t shards);

std::string shard_name(int64_t number, std::string_view suffix);  // "part-00007.arrow"

struct Manifest {
  std::string head;                   // its line, without the end
  std::vector<ManifestShard> shards;  // of whole lines
  std::vector<int64_t> line_ends;     // bytes up to and with the line of each shard
  int64_t head_end = 0;
};

// kCorrupt names line and byte. A last line without its end is left out, and so is the line that ends the set.
Result<Manifest> parse_manifest(const std::string& path, std::string_view text);

// What differs between two heads, for a message: "its format is tar, not arrow".
std::string head_difference(const std::string& path, const std::string& found, const ManifestHead& expected);

}  // namespace dataline
