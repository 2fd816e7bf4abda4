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
#include "core/source/adjacent_records.h"
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

class RecordSource : public AdjacentRecords {
 public:
  Place place_of(int64_t index, size_t column) const final;
  void identify(IdentityBuilder& identity) const override;

 protected:
  RecordSource(RecordFile file, Schema schema, SourceInfo info)
      : AdjacentRecords(std::move(file.file), std::move(schema), std::move(info),
                        std::move(file.index.records)),
        most_data_bytes_(file.index.most_data_bytes),
        check_data_(file.check_data),
        crc_(best_simd_target()) {}

  // Scratch for a record that is read: none where it lies in memory, else for at most `most_bytes` of data.
  int64_t room_bytes(int64_t most_bytes) const {
    if (file_.addressable()) return 0;
    return round_up(std::min(most_data_bytes_, most_bytes) + kRecordFooterBytes, kScratchAlignment);
  }
  // The data of a record, in `room` of room_bytes(most_bytes) if it is read. kCorrupt: a wrong checksum; kTooLarge.
  Result<Bytes> read_data(const Run& run, int64_t record, bool populate, std::byte* room,
                          int64_t most_bytes) const;
  // Before the rows of a run: whether pages have to be faulted in.
  bool begin_run(Run& run) const;
  Status check_checksum(int64_t record, uint32_t crc, const std::byte* stored) const;
  // "FILE: offset N: record I: "
  std::string place_of_record(int64_t record) const;

  const int64_t most_data_bytes_;
  const bool check_data_;
  const Crc32c crc_;
};

// One ragged field of bytes, `data`.
SourceRef plain_records(RecordFile records, SourceInfo info);

}  // namespace dataline
