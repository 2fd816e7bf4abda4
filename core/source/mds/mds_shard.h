// A shard of an MDS dataset, little-endian:
//   0            u32 n, samples
//   4            u32 offsets[n + 1]: where each sample begins, and where the last one ends: the end of the file
//   4 (n + 2)    JSON: what the writer was told
//   offsets[0]   samples: a u32 for each column whose size differs, then the values of all columns, in their order
//
// Sources: MosaicML Streaming, docs "Dataset format" and its MDSWriter (0.13).
// Threads: immutable after open; every function may be called from several workers at once.
// Memory: 4 bytes a sample.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/source/adjacent_records.h"
#include "core/source/mds/mds_index.h"

namespace dataline {

// What all shards of a set are read for.
struct MdsPlan {
  std::vector<MdsColumn> columns;  // as stored
  std::vector<size_t> delivered;   // numbers of columns, in the order of the fields
};

class MdsShard final : public AdjacentRecords {
 public:
  // kTruncated, kCorrupt: sizes that contradict the index or the file. kUnsupported: only its compressed file is there.
  static Result<SourceRef> open(const std::string& directory, const MdsShardEntry& entry,
                                std::shared_ptr<const MdsPlan> plan, const OpenContext& context);

  void locate(Run& run) const override;
  int64_t scratch_bytes(int64_t max_bytes_per_sample) const override;
  Place place_of(int64_t index, size_t column) const override;
  void fingerprint(Digest& digest) const override;

 private:
  MdsShard(MappedFile file, Schema schema, SourceInfo info, std::shared_ptr<const MdsPlan> plan,
           RecordEnds samples, int64_t longest);

  int64_t sample_room(int64_t max_bytes_per_sample) const;
  Result<const std::byte*> sample_bytes(Run& run, int64_t row, bool populate, std::byte* scratch) const;
  Status divide(int64_t index, const std::byte* sample, std::span<FileExtent> values) const;
  Status take_shape(int64_t index, const MdsColumn& column, const std::byte* sample, FileExtent& value) const;
  Status locate_row(Run& run, int64_t row, const std::byte* sample) const;
  Status wrong(int64_t index, std::string_view what, int64_t expected, int64_t got) const;

  const std::shared_ptr<const MdsPlan> plan_;
  const int64_t longest_;  // sample, bytes
};

}  // namespace dataline
