// The footer of a Parquet file: its schema, where the pages of each column of each row group lie, and the schema as Arrow has it, by
// which lists of one size, tensors with their axes, and large offsets come back as such.
// Source: apache/parquet-format, README.md, parquet.thrift; Apache Arrow C++, parquet/arrow/writer.cc ("ARROW:schema").
// Threads: plain functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/field.h"
#include "core/write/parquet/column_chunk.h"
#include "core/write/parquet/thrift_writer.h"

namespace dataline {

struct ParquetGroup {
  int64_t rows = 0;
  std::vector<ParquetChunk> chunks;  // one a field
};

ThriftWriter parquet_footer(const std::vector<Field>& fields, const std::vector<ParquetGroup>& groups,
                            WriteCodec codec);

// RFC 4648, with padding.
std::string base64_text(Bytes bytes);

}  // namespace dataline
