// Where the records of a TFRecord file begin. The file has no index: one pass reads the headers.
//
//   u64 length, u32 masked CRC-32C of these eight bytes, `length` bytes of data, u32 masked CRC-32C of the data
//
// little-endian, and then the next record. Source: TensorFlow, tsl/lib/io/record_writer.h.
// Threads: immutable once read.
// Memory: 4 bytes a record.
// Cost: one pread of 2 to 64 KiB per stretch of headers; data between distant ones is not touched.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "core/base/bytes.h"
#include "core/base/status.h"
#include "core/memory/mapped_file.h"
#include "core/source/adjacent_records.h"

namespace dataline {

constexpr int64_t kRecordHeaderBytes = 12, kRecordFooterBytes = 4;
constexpr int64_t kRecordFrameBytes = kRecordHeaderBytes + kRecordFooterBytes;

// "0x0004fe21"
std::string checksum_text(uint32_t checksum);

struct RecordIndex {
  RecordEnds records;           // with header and checksum
  int64_t most_data_bytes = 0;  // of a record
  int64_t skipped_bytes = 0;    // of an incomplete last record

  int64_t count() const { return records.count(); }
};

// The data of a record.
inline FileExtent data_of(const RecordEnds& records, int64_t record) {
  const FileExtent all = records.extent(record);
  return {all.offset + kRecordHeaderBytes, all.bytes - kRecordFrameBytes};
}

// The checksum of each length is checked: a wrong length would lead to any place. kCorrupt; kTruncated: the last record is
// not whole, and `partial_ignore` is not set; kCancelled. They name file, offset and record.
Result<RecordIndex> read_record_index(const MappedFile& file, bool partial_ignore,
                                      const OpenContext& context);

// Whether the first bytes of a file are a record's header with the right checksum.
bool starts_with_record(Bytes first);

}  // namespace dataline
