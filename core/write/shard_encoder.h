// A format as the writer writes it: rows in, the bytes of one shard's file out.
// Threads: externally synchronized.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/field.h"
#include "core/base/status.h"
#include "core/write/codec.h"
#include "core/write/rows.h"
#include "core/write/shard_file.h"

namespace dataline {

class ShardEncoder {
 public:
  virtual ~ShardEncoder() = default;
  virtual Status begin(ShardFile& file) = 0;
  // Whether these rows can be stored: nothing of them is written otherwise. Errors name the field and the row.
  virtual Status check(const HostRows& rows) const = 0;
  // `first`: how many rows of the set come before these.
  virtual Status add(const HostRows& rows, int64_t first, ShardFile& file) = 0;
  virtual int64_t pending_bytes() const { return 0; }  // of rows that are in memory yet
  virtual Status end(ShardFile& file) = 0;
};

struct WriteFormat {
  std::string_view name, suffix, doc;  // literals
  // kUnsupported names a field that the format cannot hold. The fields outlive the encoder. `codec`: none, where it takes none.
  Result<std::unique_ptr<ShardEncoder>> (*make)(const std::vector<Field>& fields, WriteCodec codec);
  bool takes_codec = false;
};

extern const WriteFormat kWriteArrow, kWriteParquet, kWriteTar, kWriteTfRecord, kWriteNpy, kWriteTokens;
std::span<const WriteFormat* const> write_formats();
const WriteFormat* find_write_format(std::string_view name);  // null: none
std::string write_format_names();                             // "arrow, parquet, tar, tfrecord, npy, tokens"

}  // namespace dataline
