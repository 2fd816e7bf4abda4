// index.json of a LitData set: its chunks in their order, and what an item is.
//
// Sources: LitData 0.2.76, its BinaryWriter and the index that its Cache merges.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/memory/mapped_file.h"
#include "core/source/shards/column_shard.h"

namespace dataline {

struct LitdataField {
  std::string name, format;  // as in data_format: "int", "no_header_tensor:17"
};

struct LitdataIndex {
  std::string path;
  std::vector<ShardEntry> chunks;
  std::vector<int64_t> tokens;  // of each chunk, where items are tokens; -1: the index does not say
  std::vector<LitdataField> fields;
  bool is_tokens = false;  // items are the bytes of one field, without its size
};

// kCorrupt (no such JSON, with line and byte), kUnsupported (encrypted, chunks that are Parquet, an unknown item loader), kTooLarge,
// kEmpty (no chunks), kCancelled.
Result<LitdataIndex> read_litdata_index(const std::string& path, const OpenContext& context);

}  // namespace dataline
