// SPDX-License-Identifier: Apache-2.0
#include "core/source/tfrecord/record_index.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "core/base/bytes.h"
#include "core/base/simd.h"
#include "core/source/file_window.h"
#include "core/source/source.h"
#include "core/source/tfrecord/crc32c.h"

namespace dataline {
namespace {

constexpr int64_t kRecordsPerLook = 1024;  // records between two looks at the cancel token
constexpr int64_t kRecordLengthBytes = 8;
constexpr int64_t kSearchedBytes = int64_t{1} << 20;  // read at once, where a record is looked for
constexpr int64_t kMaxLosses = 1000;                  // that are noted one by one

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
  RecordWalk(const MappedFile& file, RecordDamage damage, const OpenContext& context, RecordIndex& index)
      : file_(file),
        skips_(damage == RecordDamage::kSkip),
        context_(context),
        index_(index),
        window_(file),
        crc_(best_simd_target()) {}

  // kTruncated: the rest of the file from offset() is no whole record.
  Status run() {
    context_.progress->expect_bytes(file_.bytes());
    while (offset_ < file_.bytes()) {
      if (index_.count() % kRecordsPerLook == 0) DL_RETURN_IF_ERROR(check_in());
      Result<int64_t> length = read_length();
      if (!length.is_ok() && length.status().code() == Code::kCorrupt && skips_) {
        DL_ASSIGN_OR_RETURN(const bool found, skip_to_record(length.take_status()));
        if (!found) break;
        continue;
      }
      if (!length.is_ok()) return length.take_status();
      add_record(length.value());
    }
    count_progress();
    return Status::ok();
  }
  int64_t offset() const { return offset_; }

 private:
  void add_record(int64_t length) {
    if (gap_ > 0) index_.records.gaps.push_back({index_.count(), gap_});
    gap_ = 0;
    index_.most_data_bytes = std::max(index_.most_data_bytes, length);
    offset_ += length + kRecordFrameBytes;
    index_.records.ends.add(offset_);
  }

  // To the next record; false: there is none. kCorrupt, as given: the file has none at all.
  Result<bool> skip_to_record(Status cause) {
    int64_t from = offset_;
    if (gap_ == 0 && index_.count() > 0) {
      const FileExtent before = index_.records.extent(index_.count() - 1);
      DL_ASSIGN_OR_RETURN(const bool whole, data_is_right(before.offset, before.bytes - kRecordFrameBytes));
      if (!whole) {
        from = before.offset;
        gap_ = index_.records.drop_last();
      }
    }
    int64_t at = from + 1;
    DL_ASSIGN_OR_RETURN(const bool found, find_record(at));
    if (!found && index_.count() == 0 && index_.losses.empty()) return cause;
    note_loss(from, at, cause);
    gap_ += at - from;
    offset_ = at;
    return found;
  }

  // The first record from `at` on; the end of the file where there is none.
  Result<bool> find_record(int64_t& at) {
    std::vector<std::byte> piece(static_cast<size_t>(std::min(kSearchedBytes, file_.bytes())));
    while (file_.bytes() - at >= kRecordFrameBytes) {
      DL_RETURN_IF_ERROR(check_in());
      const int64_t bytes = std::min(std::ssize(piece), file_.bytes() - at);
      DL_RETURN_IF_ERROR(file_.read(at, bytes, piece.data()));
      const int64_t places = bytes - kRecordHeaderBytes + 1;
      for (int64_t i = 0; i < places; ++i) {
        const RecordHeader header = parse_record_header(piece.data() + i);
        if (header.got != header.expected) continue;
        const int64_t left = file_.bytes() - (at + i) - kRecordFrameBytes;
        if (left < 0 || header.length > static_cast<uint64_t>(left)) continue;
        DL_ASSIGN_OR_RETURN(const bool right, data_is_right(at + i, static_cast<int64_t>(header.length)));
        if (!right) continue;
        at += i;
        return true;
      }
      at += places;
    }
    at = file_.bytes();
    return false;
  }

  // Whether the data of a record that begins there have their checksum; they lie in the file.
  Result<bool> data_is_right(int64_t offset, int64_t length) const {
    std::vector<std::byte> piece(static_cast<size_t>(std::min(kSearchedBytes, length + kRecordFooterBytes)));
    uint32_t crc = 0;
    for (int64_t done = 0; done < length;) {
      const int64_t bytes = std::min(std::ssize(piece), length - done);
      DL_RETURN_IF_ERROR(file_.read(offset + kRecordHeaderBytes + done, bytes, piece.data()));
      crc = crc_.extend(crc, piece.data(), bytes);
      done += bytes;
    }
    DL_RETURN_IF_ERROR(file_.read(offset + kRecordHeaderBytes + length, kRecordFooterBytes, piece.data()));
    return mask_crc32c(crc) == load_little<uint32_t>(piece.data());
  }

  void note_loss(int64_t from, int64_t to, const Status& cause) {
    if (std::ssize(index_.losses) < kMaxLosses) {
      index_.losses.push_back(concat(kDamaged, file_.path(), ": ", to - from, " bytes from offset ", from,
                                     " on are left out: ", cause.text()));
    } else if (std::ssize(index_.losses) == kMaxLosses) {
      index_.losses.push_back(concat(kDamaged, file_.path(), ": more than ", kMaxLosses,
                                     " places are damaged, the next at offset ", from));
    }
  }

  Result<int64_t> read_length() {
    const int64_t left = file_.bytes() - offset_;
    if (left < kRecordHeaderBytes)
      return truncated("its header of ", kRecordHeaderBytes, " bytes, the file has ", left, " more");
    DL_ASSIGN_OR_RETURN(const std::byte* at, window_.at(offset_, kRecordHeaderBytes));
    const RecordHeader header = parse_record_header(at);
    if (header.got != header.expected) {
      return refuse(Code::kCorrupt, "the checksum of its length, ", header.length, ", is ",
                    checksum_text(header.got), ", expected ", checksum_text(header.expected),
                    index_.count() == 0 ? "" : "; the next record cannot be found without it",
                    skips_ ? "" : " (damage=skip searches for the next record)");
    }
    if (left < kRecordFrameBytes || header.length > static_cast<uint64_t>(left - kRecordFrameBytes)) {
      return truncated("its data of ", header.length, " bytes and their checksum, the file has ",
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
    context_.progress->add_entries(
        std::max<int64_t>(index_.count() - std::exchange(counted_records_, index_.count()), 0));
    context_.progress->add_bytes(std::max<int64_t>(offset_ - std::exchange(counted_bytes_, offset_), 0));
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
  const bool skips_;  // what is damaged
  const OpenContext& context_;
  RecordIndex& index_;
  FileWindow window_;
  const Crc32c crc_;
  int64_t offset_ = 0;
  int64_t gap_ = 0;                                  // bytes before offset() that are left out
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

Result<RecordIndex> read_record_index(const MappedFile& file, RecordDamage damage,
                                      const OpenContext& context) {
  RecordIndex index{.records = {SortedTable(context.memory)}};
  RecordWalk walk(file, damage, context, index);
  Status status = walk.run();
  // A file that shrinks meanwhile is no writer that was interrupted.
  if (status.code() == Code::kTruncated && damage != RecordDamage::kError) {
    DL_RETURN_IF_ERROR(file.check_length());
    index.losses.push_back(concat(kDamaged, file.path(), ": the last ", file.bytes() - walk.offset(),
                                  " bytes are an incomplete record, left out"));
  } else if (!status.is_ok()) {
    return status;
  }
  index.records.ends.shrink();
  return index;
}

}  // namespace dataline
