// The fields of a LitData set: how each is stored, and what it becomes.
//
// Numbers are 8 bytes, a bool is one; arrays of one dim are their items ("no_header_tensor:17"); others begin with u32 words, the
// dtype's number, how many dims, the dims: tensors' are big-endian (up to release 0.2.56 or so: little-endian), NumPy's little-endian.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/base/bytes.h"
#include "core/source/litdata/litdata_index.h"
#include "core/source/shards/column_shard.h"

namespace dataline {

// The most that stands before the items of an array.
constexpr int64_t kMaxLitdataHeaderBytes = 4 * (2 + kMaxRank);

struct LitdataColumn {
  ShardColumn stored;
  bool by_header = false;  // dtype and shape stand in each value: take_header() reads the first one's
};

// `path` of the index, for messages. What is not read has no field, and why.
LitdataColumn litdata_column(const std::string& path, const LitdataField& field);

// The field of a column by_header, from the beginning of a value of `bytes`. Returns what is wrong, or "".
std::string take_litdata_header(Bytes start, int64_t bytes, ShardColumn& column);

// The dtype of tokens: of a field "no_header_tensor:N" or "no_header_numpy:N".
std::optional<DType> litdata_token_dtype(const std::string& format);

}  // namespace dataline
