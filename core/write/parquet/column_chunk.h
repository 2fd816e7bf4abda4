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
#include "core/write/parquet/level_runs.h"
#include "core/write/parquet/parquet_schema.h"
#include "core/write/rows.h"
#include "core/write/shard_file.h"

namespace dataline {

// What the footer says of a column of a row group.
struct ParquetChunk {
  int64_t offset = 0, dictionary_bytes = 0, bytes = 0, values = 0;
};

class ColumnChunk {
 public:
  explicit ColumnChunk(const Field& field);

  void add(const HostRows& rows, size_t f, int64_t first, int64_t end);
  int64_t bytes() const;  // about, before the last page is finished
  // Writes the column and is empty then.
  Status write(ShardFile& file, ParquetChunk& out);
  void clear();

 private:
  void add_row(Bytes cell);
  void add_levels(int64_t items);
  void add_values(Bytes cell);
  template <typename Stored, typename Given>
  void widen(Bytes cell);
  void add_bits(Bytes cell);
  void put(Bytes bytes) { values_.insert(values_.end(), bytes.begin(), bytes.end()); }
  int64_t page_bytes() const;
  void put_dictionary();
  void end_page();
  void put_page(int32_t kind, int64_t entries, int32_t encoding, std::span<const Bytes> body);

  const Field& field_;
  const ParquetColumnType type_;
  // Of the open page. An entry is a value, or an empty list.
  LevelRuns repetition_, definition_;
  std::vector<std::byte> values_;
  int64_t entries_ = 0, bits_ = 0;
  // Of finished ones.
  std::vector<std::byte> pages_;
  int64_t dictionary_bytes_ = 0, finished_entries_ = 0;
};

}  // namespace dataline
