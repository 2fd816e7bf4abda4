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
#include <vector>

#include "core/base/bytes.h"
#include "core/base/status.h"
#include "core/memory/mapped_file.h"
#include "core/source/adjacent_records.h"

namespace dataline {

constexpr int64_t kRecordHeaderBytes = 12, kRecordFooterBytes = 4;
constexpr int64_t kRecordFrameBytes = kRecordHeaderBytes + kRecordFooterBytes;

// "0x0004fe21"
std::string checksum_text(uint32_t checksum);

// What is done with bytes that are no whole record; kPartial: those at the end of the file are left out; kSkip: also others, up to the
// next record.
enum class RecordDamage : uint8_t { kError, kPartial, kSkip };

struct RecordIndex {
  RecordEnds records;                    // with header and checksum
  int64_t most_data_bytes = 0;           // of a record
  std::vector<std::string> losses = {};  // notes on what was left out

  int64_t count() const { return records.count(); }
};

// The data of a record.
inline FileExtent data_of(const RecordEnds& records, int64_t record) {
  const FileExtent all = records.extent(record);
  return {all.offset + kRecordHeaderBytes, all.bytes - kRecordFrameBytes};
}

// The checksum of each length is checked: a wrong length would lead to any place. kCorrupt; kTruncated: the last record is
// not whole; kCancelled. They name file, offset and record.
// With kSkip, where no record begins: if the data of the record before fail their checksum, bytes of it may be missing or added, and the
// search begins within it, else behind it. The next record is where the checksums of a length and of its data are both right, which
// bytes by chance are once in 2^64 places. A TFRecord file that lies in the data of a damaged record passes as records of this one.
// That costs a read of the bytes in between.
Result<RecordIndex> read_record_index(const MappedFile& file, RecordDamage damage,
                                      const OpenContext& context);

// Whether the first bytes of a file are a record's header with the right checksum.
bool starts_with_record(Bytes first);

}  // namespace dataline
