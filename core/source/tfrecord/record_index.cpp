// SPDX-License-Identifier: Apache-2.0
#include "core/source/tfrecord/record_index.h"

#include <algorithm>
#include <utility>

#include "core/base/bytes.h"
#include "core/source/file_window.h"
#include "core/source/tfrecord/crc32c.h"

namespace dataline {
namespace {

constexpr int64_t kRecordsPerLook = 1024;  // records between two looks at the cancel token
constexpr int64_t kRecordLengthBytes = 8;

struct RecordHeader {
  uint64_t length = 0;
  uint32_t expected = 0, got = 0;  // checksums of the length: by its bytes, and as stored
};

RecordHeader parse_record_header(const std::byte* at) {
  const Crc32c crc(SimdTarget::kPlain);  // eight bytes
  return {load_little<uint64_t>(at), mask_crc32c(crc.extend(0, at, kRecordLengthBytes)),
          load_little<uint32_t>(at + kRecordLengthBytes)};
}

// Walks from header to header.
class RecordWalk {
 public:
  RecordWalk(const MappedFile& file, const OpenContext& context, RecordIndex& index)
      : file_(file), context_(context), index_(index), window_(file) {}

  // kTruncated: the rest of the file from offset() is no whole record.
  Status run() {
    context_.progress->expect_bytes(file_.bytes());
    while (offset_ < file_.bytes()) {
      if (index_.count() % kRecordsPerLook == 0) DL_RETURN_IF_ERROR(check_in());
      DL_ASSIGN_OR_RETURN(const int64_t length, read_length());
      index_.most_data_bytes = std::max(index_.most_data_bytes, length);
      offset_ += length + kRecordFrameBytes;
      index_.records.ends.add(offset_);
    }
    count_progress();
    return Status::ok();
  }
  int64_t offset() const { return offset_; }

 private:
  Result<int64_t> read_length() {
    const int64_t left = file_.bytes() - offset_;
    if (left < kRecordHeaderBytes)
      return truncated("its header of ", kRecordHeaderBytes, " bytes, file has ", left, " more");
    DL_ASSIGN_OR_RETURN(const std::byte* at, window_.at(offset_, kRecordHeaderBytes));
    const RecordHeader header = parse_record_header(at);
    if (header.got != header.expected) {
      return refuse(Code::kCorrupt, "the checksum of its length, ", header.length, ", is ",
                    checksum_text(header.got), ", expected ", checksum_text(header.expected),
                    index_.count() == 0 ? "" : "; what follows cannot be found without it");
    }
    if (left < kRecordFrameBytes || header.length > static_cast<uint64_t>(left - kRecordFrameBytes)) {
      return truncated("its data of ", header.length, " bytes and their checksum, file has ",
                       left - kRecordHeaderBytes, " more");
    }
    return static_cast<int64_t>(header.length);
  }

  Status check_in() {
    if (context_.cancelled())
      return error(Code::kCancelled, file_.path(), ": cancelled after ", index_.count(), " records");
    count_progress();
    context_.report("indexing ", file_.path());
    return Status::ok();
  }

  void count_progress() {
    context_.progress->add_entries(index_.count() - std::exchange(counted_records_, index_.count()));
    context_.progress->add_bytes(offset_ - std::exchange(counted_bytes_, offset_));
  }

  template <typename... Parts>
  Status refuse(Code code, const Parts&... parts) const {
    return error(code, file_.path(), ": offset ", offset_, ": record ", index_.count(), ": ", parts...);
  }
  template <typename... Parts>
  Status truncated(const Parts&... parts) const {
    return refuse(Code::kTruncated, "expected ", parts..., " (partial=ignore leaves it out)");
  }

  const MappedFile& file_;
  const OpenContext& context_;
  RecordIndex& index_;
  FileWindow window_;
  int64_t offset_ = 0;
  int64_t counted_records_ = 0, counted_bytes_ = 0;  // in context_.progress
};

}  // namespace

std::string checksum_text(uint32_t checksum) {
  std::string out = "0x";
  for (int shift = 28; shift >= 0; shift -= 4) out += "0123456789abcdef"[checksum >> shift & 15];
  return out;
}

bool starts_with_record(Bytes first) {
  if (static_cast<int64_t>(first.size()) < kRecordHeaderBytes) return false;
  const RecordHeader header = parse_record_header(first.data());
  return header.got == header.expected;
}

Result<RecordIndex> read_record_index(const MappedFile& file, bool partial_ignore,
                                      const OpenContext& context) {
  RecordIndex index{.records = {SortedTable(context.memory)}};
  RecordWalk walk(file, context, index);
  Status status = walk.run();
  // A file that shrinks meanwhile is no writer that was interrupted.
  if (status.code() == Code::kTruncated && partial_ignore) {
    DL_RETURN_IF_ERROR(file.check_length());
    index.skipped_bytes = file.bytes() - walk.offset();
  } else if (!status.is_ok()) {
    return status;
  }
  index.records.ends.shrink();
  return index;
}

}  // namespace dataline
