// The columns of MDS, the format of MosaicML's Streaming: how each is stored, and what it becomes.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "core/base/status.h"
#include "core/source/shards/column_shard.h"

namespace dataline {

// As index.json says it.
struct MdsColumnSpec {
  std::string name, encoding;
  int64_t size = -1;  // bytes of every value; -1: they differ, and each sample says them

  bool operator==(const MdsColumnSpec&) const = default;
};

struct MdsColumn {
  MdsColumnSpec spec;
  ShardColumn stored;
};

// kCorrupt: a size that the encoding cannot have. `path` and `name` of the index, for messages.
Result<MdsColumn> mds_column(const std::string& path, MdsColumnSpec spec);

}  // namespace dataline
