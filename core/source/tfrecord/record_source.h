// Records of one TFRecord file: where they lie, their bytes in every way of reading, and their checksums.
//
// Threads: immutable; every function may be called from several workers at once.
// Lifetime: bytes of mapped files and files in memory live as long as the source, others as long as the scratch.
// Cost: with check_data each byte of a record is read once more than it is copied, at the speed of crc32c.h.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "core/base/checked.h"
#include "core/source/file_source.h"
#include "core/source/flat_file.h"
#include "core/source/tfrecord/crc32c.h"
#include "core/source/tfrecord/record_index.h"

namespace dataline {

// A file's records before the fields are known.
struct RecordFile {
  MappedFile file;
  RecordIndex index;
  bool check_data = true;  // the checksums of the data
};

class RecordSource : public FileSource {
 public:
  int64_t count() const final { return index_.count(); }
  void append_blocks(int64_t block_bytes, BlockEnds& ends) const final;
  int64_t stored_bytes() const final {
    return mean_bytes(static_cast<double>(index_.count() == 0 ? 0 : index_.end(count() - 1)), count());
  }
  Place place_of(int64_t index, size_t column) const final;
  void fingerprint(Digest& digest) const override;

 protected:
  RecordSource(RecordFile records, Schema schema, SourceInfo info)
      : FileSource(std::move(records.file), std::move(schema), std::move(info)),
        index_(std::move(records.index)),
        check_data_(records.check_data),
        crc_(best_simd_target()) {}

  // Scratch for a record that is read: none where it lies in memory, else for at most `most_bytes` of data.
  int64_t room_bytes(int64_t most_bytes) const {
    if (file_.addressable()) return 0;
    return round_up(std::min(index_.most_data_bytes(), most_bytes) + kRecordFooterBytes, kScratchAlignment);
  }
  // The data of a record, in `room` of room_bytes(most_bytes) if it is read. kCorrupt: a wrong checksum; kTooLarge.
  Result<Bytes> read_data(const Run& run, int64_t record, bool populate, std::byte* room,
                          int64_t most_bytes) const;
  // Before the rows of a run: whether pages have to be faulted in.
  bool begin_run(Run& run) const;
  Status check_checksum(int64_t record, uint32_t crc, const std::byte* stored) const;
  FileExtent extent_of(int64_t record) const final {
    return {index_.begin(record), index_.end(record) - index_.begin(record)};
  }
  // "FILE: offset N: record I: "
  std::string place_of_record(int64_t record) const;

  const RecordIndex index_;
  const bool check_data_;
  const Crc32c crc_;
};

// One ragged field of bytes, `data`.
SourceRef plain_records(RecordFile records, SourceInfo info);

}  // namespace dataline
