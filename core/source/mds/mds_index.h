// index.json of an MDS dataset: its shards, and the columns that all of them have.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "core/memory/mapped_file.h"
#include "core/source/mds/mds_columns.h"

namespace dataline {

struct MdsIndex {
  std::string path;  // of index.json
  std::vector<MdsColumn> columns;
  std::vector<ShardEntry> shards;
};

// kCorrupt (no such JSON, with line and byte), kUnsupported (another version, shards that are not MDS), kMismatch (shards whose columns
// differ), kTooLarge, kEmpty (no shards), kCancelled.
Result<MdsIndex> read_mds_index(const std::string& path, const OpenContext& context);

}  // namespace dataline
