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
#include <memory>
#include <string>
#include <utility>

#include "core/base/bytes.h"
#include "core/base/status.h"
#include "core/memory/mapped_file.h"
#include "core/source/documents/sorted_table.h"

namespace dataline {

constexpr int64_t kRecordHeaderBytes = 12, kRecordFooterBytes = 4;
constexpr int64_t kRecordFrameBytes = kRecordHeaderBytes + kRecordFooterBytes;

// "0x0004fe21"
std::string checksum_text(uint32_t checksum);

class RecordIndex {
 public:
  // The checksum of each length is checked: a wrong length would lead to any place. kCorrupt; kTruncated: the last record is
  // not whole, and `partial_ignore` is not set; kCancelled. They name file, offset and record.
  static Result<RecordIndex> read(const MappedFile& file, bool partial_ignore, const OpenContext& context);

  int64_t count() const { return ends_.size(); }
  int64_t begin(int64_t record) const { return record == 0 ? 0 : ends_[record - 1]; }
  int64_t end(int64_t record) const { return ends_[record]; }
  int64_t data_begin(int64_t record) const { return begin(record) + kRecordHeaderBytes; }
  int64_t data_bytes(int64_t record) const { return end(record) - begin(record) - kRecordFrameBytes; }
  int64_t most_data_bytes() const { return most_data_bytes_; }
  int64_t skipped_bytes() const { return skipped_bytes_; }  // of an incomplete last record

 private:
  friend class RecordWalk;
  explicit RecordIndex(std::shared_ptr<HostMemory> memory) : ends_(std::move(memory)) {}

  SortedTable ends_;
  int64_t most_data_bytes_ = 0, skipped_bytes_ = 0;
};

// Whether the first bytes of a file are a record's header with the right checksum.
bool starts_with_record(Bytes first);

}  // namespace dataline
