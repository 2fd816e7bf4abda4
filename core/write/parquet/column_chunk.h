// One column of the row group that is being gathered: its rows as finished pages, and the page that is open.
//
// Values are PLAIN, which is what readers decode fastest, but for whole numbers of 8 bits: those are RLE_DICTIONARY over a dictionary of
// all 256 (parquet_schema.h), a quarter of the bytes. Each page has its checksum, so that readers can name a damaged one.
// Threads: externally synchronized.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/bytes.h"
#include "core/write/codec.h"
#include "core/write/parquet/level_runs.h"
#include "core/write/parquet/parquet_schema.h"
#include "core/write/rows.h"
#include "core/write/shard_file.h"

namespace dataline {

// The least and the largest of whole numbers, by which readers leave row groups out (`where label = 3`).
struct ParquetRange {
  bool known = false;
  uint64_t least = 0, most = 0;  // as whole_number_at() has them

  void add(DType dtype, const std::byte* at);
};

// What the footer says of a column of a row group.
struct ParquetChunk {
  int64_t offset = 0, dictionary_bytes = 0, bytes = 0, values = 0;
  int64_t plain_bytes = 0;  // before they are compressed
  ParquetRange range;       // of scalars that are whole numbers
};

class ColumnChunk {
 public:
  // `compressor` outlives it.
  ColumnChunk(const Field& field, Compressor& compressor);

  Status add(const HostRows& rows, size_t f, int64_t first, int64_t end);
  int64_t bytes() const;  // about, before the last page is finished
  // Writes the column and is empty then.
  Status write(ShardFile& file, ParquetChunk& out);
  void clear();

 private:
  Status add_row(Bytes cell);
  void add_levels(int64_t items);
  void add_values(Bytes cell);
  template <typename Stored, typename Given>
  void widen(Bytes cell);
  void add_bits(Bytes cell);
  void put(Bytes bytes) { values_.insert(values_.end(), bytes.begin(), bytes.end()); }
  int64_t page_bytes() const;
  Status put_dictionary();
  Status end_page();
  Status put_page(int32_t kind, int64_t entries, int32_t encoding, std::span<const Bytes> body);

  const Field& field_;
  const ParquetColumnType type_;
  Compressor& compressor_;
  // Of the open page. An entry is a value, or an empty list.
  LevelRuns repetition_, definition_;
  std::vector<std::byte> values_;
  int64_t entries_ = 0, bits_ = 0;
  std::vector<std::byte> plain_, compressed_;  // of the page that is being finished
  // Of finished ones.
  std::vector<std::byte> pages_;
  ParquetRange range_;
  int64_t dictionary_bytes_ = 0, finished_entries_ = 0, plain_bytes_ = 0;
};

}  // namespace dataline
