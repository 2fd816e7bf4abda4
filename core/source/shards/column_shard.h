// A shard: a file of samples that have several columns, little-endian:
//   0            u32 n, samples
//   4            u32 offsets[n + 1]: where each sample begins, and where the last one ends: the end of the file
//   4 (n + 2)    what the writer was told (MDS: JSON), or nothing (LitData)
//   offsets[0]   samples: a u32 for each column whose size samples say, then the values of all columns, in their order
//
// Sources: MosaicML Streaming, docs "Dataset format" and its MDSWriter (0.13); LitData, its BinaryWriter (0.2.76).
// Threads: immutable after open; every function may be called from several workers at once.
// Memory: 4 bytes a sample.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/field.h"
#include "core/source/adjacent_records.h"
#include "core/source/shards/shard_file.h"

namespace dataline {

constexpr size_t kMaxShardColumns = 256;

struct ShardColumn {
  std::string name;
  int64_t stored_bytes = -1;    // of every value; -1: they differ, and each sample says them
  int64_t expected_bytes = -1;  // what each sample must say; -1: any
  // Looks at what stands before the items of a value, and leaves the items. Returns what is wrong, or "".
  std::string (*take_items)(const ShardColumn& column, const std::byte* sample, FileExtent& value) = nullptr;
  std::optional<Field> field;  // nothing: not read, for this reason
  Status why_not;
};

// What all shards of a set are read for.
struct ShardPlan {
  std::string format;
  std::vector<ShardColumn> columns;  // as stored
  std::vector<size_t> delivered;     // numbers of columns, in the order of the fields
  bool gap = false;                  // something may lie between the table and the samples
  // Of a file whose table is wrong: what it is instead, if that is known.
  Status (*explain)(const MappedFile& file, int64_t samples) = nullptr;
};

struct ShardTable {
  RecordEnds samples;
  int64_t longest = 0;
};
// kTruncated, kCorrupt: a table that contradicts the index or the file; what plan.explain says.
Result<ShardTable> read_shard_table(const MappedFile& file, int64_t samples, const ShardPlan& plan,
                                    const OpenContext& context);

class ColumnShard final : public AdjacentRecords {
 public:
  // kTruncated, kCorrupt: sizes that contradict the index or the file. What open_shard_file() says.
  static Result<SourceRef> open(const std::string& directory, const ShardEntry& entry,
                                std::shared_ptr<const ShardPlan> plan, const OpenContext& context);

  void locate(Run& run) const override;
  int64_t scratch_bytes(int64_t max_bytes_per_sample) const override;
  Place place_of(int64_t index, size_t column) const override;
  void identify(IdentityBuilder& identity) const override;

 private:
  ColumnShard(MappedFile file, Schema schema, SourceInfo info, std::shared_ptr<const ShardPlan> plan,
              RecordEnds samples, int64_t longest);

  int64_t sample_room(int64_t max_bytes_per_sample) const;
  Result<const std::byte*> sample_bytes(Run& run, int64_t row, bool populate, std::byte* scratch) const;
  Status divide(int64_t index, const std::byte* sample, std::span<FileExtent> values) const;
  Status locate_row(Run& run, int64_t row, const std::byte* sample) const;
  Status column_wrong(int64_t index, const ShardColumn& column, int64_t at, std::string_view what) const;
  Status wrong(int64_t index, std::string_view what, int64_t expected, int64_t got) const;

  const std::shared_ptr<const ShardPlan> plan_;
  const int64_t longest_;  // sample, bytes
};

}  // namespace dataline
