// index.json of an MDS dataset: its shards, and the columns that all of them have.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/memory/mapped_file.h"
#include "core/source/mds/mds_columns.h"

namespace dataline {

constexpr std::string_view kMdsIndexName = "index.json";
constexpr size_t kMaxMdsColumns = 256;
constexpr int64_t kMaxMdsIndexBytes = int64_t{1} << 30;

struct MdsShardEntry {
  std::string name;   // relative to the index
  int64_t bytes = 0;  // of the file
  int64_t samples = 0;
  std::string compressed;  // the name of its compressed file, or ""
};

struct MdsIndex {
  std::string path;  // of index.json
  std::vector<MdsColumn> columns;
  std::vector<MdsShardEntry> shards;
};

// kCorrupt (no such JSON, with line and byte), kUnsupported (another version, shards that are not MDS), kMismatch (shards whose columns
// differ), kTooLarge, kEmpty (no shards), kCancelled.
Result<MdsIndex> read_mds_index(const std::string& path, const OpenContext& context);

}  // namespace dataline
