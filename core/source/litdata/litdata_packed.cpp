// SPDX-License-Identifier: Apache-2.0
#include "core/source/litdata/litdata_packed.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "core/base/bytes.h"
#include "core/base/checked.h"
#include "core/base/text.h"
#include "core/source/file_source.h"
#include "core/source/frames.h"

namespace dataline {
namespace {

constexpr int64_t kPackedWord = 4, kPackedPrefix = 24, kPackedBatch = 24;
constexpr std::string_view kPackedMagic("LDFZ01\0\0", 8);

void put_packed_word(std::byte* out, int64_t value) {
  for (int64_t i = 0; i < kPackedWord; ++i) out[i] = static_cast<std::byte>(value >> (8 * i));
}

// The file as it is, and what becomes of it: the table of n items, and room for their bytes.
class Unpacking {
 public:
  Unpacking(const MappedFile& file, const ShardEntry& entry, const OpenContext& context)
      : file_(file), context_(context), items_(entry.samples) {}

  // A copy, because a file that is truncated while it is read through its mapping would raise SIGBUS.
  Status read() {
    if (items_ > int64_t{UINT32_MAX})
      return wrong(Code::kTruncated, 0, concat(items_, " samples need a table of 4 bytes each"));
    DL_ASSIGN_OR_RETURN(packed_, room(file_.bytes()));
    DL_RETURN_IF_ERROR(file_.read_all(packed_.data(), context_));
    return file_.change_since_open().status;
  }

  Result<MappedFile> batches() {
    if (file_.bytes() < kPackedPrefix ||
        std::memcmp(packed_.data(), kPackedMagic.data(), kPackedMagic.size()) != 0)
      return wrong(Code::kCorrupt, 0,
                   "expected a chunk whose items are compressed in batches, as the index states");
    const int64_t version = word(8) & 0xFFFF, flags = word(8) >> 16, batches = word(20);
    if (version != 1 || flags != 0)
      return wrong(Code::kUnsupported, 8,
                   concat("version ", version, ", flags ", flags, ", expected 1 and 0"));
    if (word(12) != items_)
      return wrong(Code::kCorrupt, 12, concat(word(12), " items, the index states ", items_));
    const int64_t offsets = kPackedPrefix, table = offsets + kPackedWord * (items_ + 1);
    if (table + kPackedBatch * batches > file_.bytes())
      return wrong(Code::kTruncated, offsets,
                   concat("its tables need ", table + kPackedBatch * batches - offsets,
                          " bytes, the file has ", file_.bytes()));
    for (int64_t i = 0; i <= items_; ++i) {
      if (word(offsets + kPackedWord * i) < (i == 0 ? 0 : word(offsets + kPackedWord * (i - 1))) ||
          (i == 0 && word(offsets) != 0))
        return wrong(Code::kCorrupt, offsets + kPackedWord * i, "offsets of items do not ascend from 0");
    }
    const int64_t all = word(offsets + kPackedWord * items_);
    if (all > max_inflated_frame_bytes(FrameCodec::kZstd, file_.bytes()))
      return wrong(Code::kCorrupt, table - kPackedWord,
                   concat("its items have ", all, " bytes, more than its frames can hold"));
    DL_RETURN_IF_ERROR(make_room(all));
    for (int64_t i = 0; i <= items_; ++i) put_end(i, word(offsets + kPackedWord * i));
    int64_t done = 0;
    for (int64_t b = 0; b < batches; ++b) {
      const int64_t at = table + kPackedBatch * b, count = word(at + 4);
      const FileExtent frame{static_cast<int64_t>(load_little<uint64_t>(packed_.data() + at + 8)),
                             word(at + 16)};
      if (word(at) != done || count > items_ - done)
        return wrong(Code::kCorrupt, at,
                     concat("batch ", b, " has items ", word(at), " to ", word(at) + count,
                            ", expected them from ", done, " to ", items_, " at most"));
      const int64_t begin = word(offsets + kPackedWord * done),
                    end = word(offsets + kPackedWord * (done + count));
      if (word(at + 20) != end - begin)
        return wrong(
            Code::kCorrupt, at + 20,
            concat("batch ", b, " decompresses to ", word(at + 20), " bytes, its items have ", end - begin));
      DL_ASSIGN_OR_RETURN(const int64_t bytes, inflate(frame, begin, end - begin));
      if (bytes != end - begin)
        return wrong(Code::kCorrupt, frame.offset,
                     concat("batch ", b, " decompresses to ", bytes, " bytes, expected ", end - begin));
      done += count;
    }
    if (done != items_)
      return wrong(Code::kCorrupt, table, concat("its batches have ", done, " items of ", items_));
    return finished(all);
  }

  Result<MappedFile> items() {
    const int64_t head = kPackedWord * (items_ + 2);
    if (head > file_.bytes() || word(0) != items_)
      return wrong(head > file_.bytes() ? Code::kTruncated : Code::kCorrupt, 0,
                   concat("expected a table of ", items_, " items, as the index states"));
    int64_t most = 0;
    for (int64_t i = 0; i < items_; ++i) {
      const FileExtent frame = item(i);
      if (frame.offset < head || frame.bytes < 0 || frame.offset + frame.bytes > file_.bytes() ||
          (i == 0 && frame.offset != head))
        return wrong(Code::kCorrupt, kPackedWord * (i + 1),
                     concat("item ", i, " is not in the file, or not after the one before"));
      DL_ASSIGN_OR_RETURN(const int64_t bound, zstd_frames_bound(name(frame), compressed(frame)));
      const std::optional<int64_t> sum = checked_add(most, bound);
      if (!sum)
        return wrong(Code::kTooLarge, frame.offset,
                     concat("items 0 to ", i, " decompress to 2^63 bytes or more"));
      most = *sum;
    }
    DL_RETURN_IF_ERROR(make_room(most));
    put_end(0, 0);
    int64_t end = 0;
    for (int64_t i = 0; i < items_; ++i) {
      DL_ASSIGN_OR_RETURN(const int64_t bytes, inflate(item(i), end, most - end));
      put_end(i + 1, end += bytes);
    }
    return finished(end);
  }

 private:
  Result<Block> room(int64_t bytes) const {
    return context_.memory->allocate(std::max<int64_t>(bytes, 1), 64, MemoryKind::kData,
                                     file_.path().c_str());
  }
  int64_t word(int64_t at) const { return load_little<uint32_t>(packed_.data() + at); }
  FileExtent item(int64_t i) const {
    const int64_t begin = word(kPackedWord * (i + 1));
    return {begin, word(kPackedWord * (i + 2)) - begin};
  }
  Status wrong(Code code, int64_t at, std::string_view what) const {
    return error(code, file_.path(), ": offset ", at, ": ", what);
  }
  std::string name(const FileExtent& frame) const { return concat(file_.path(), ": offset ", frame.offset); }
  Bytes compressed(const FileExtent& frame) const {
    return Bytes(packed_.data() + frame.offset, static_cast<size_t>(frame.bytes));
  }

  // Of this many bytes of items, behind their table, whose offsets have 32 bits.
  Status make_room(int64_t bytes) {
    head_ = kPackedWord * (items_ + 2);
    if (head_ + bytes > int64_t{UINT32_MAX})
      return error(Code::kTooLarge, file_.path(), ": decompresses to ", head_ + bytes, " bytes, at most ",
                   UINT32_MAX);
    context_.progress->expect_bytes(bytes);
    DL_ASSIGN_OR_RETURN(plain_, room(head_ + bytes));
    put_packed_word(plain_.data(), items_);
    return Status::ok();
  }
  void put_end(int64_t i, int64_t end) {
    put_packed_word(plain_.data() + kPackedWord * (i + 1), head_ + end);
  }

  // Into the bytes of items from `begin`, at most `room` of them; returns how many.
  Result<int64_t> inflate(const FileExtent& frame, int64_t begin, int64_t room) {
    if (context_.cancelled())
      return error(Code::kCancelled, file_.path(), ": cancelled at offset ", frame.offset);
    if (frame.offset < 0 || frame.bytes <= 0 || frame.offset > file_.bytes() - frame.bytes)
      return wrong(Code::kTruncated, frame.offset,
                   concat("a frame of ", frame.bytes, " bytes, the file has ", file_.bytes()));
    const std::span<std::byte> out(plain_.data() + head_ + begin, static_cast<size_t>(room));
    DL_ASSIGN_OR_RETURN(const int64_t bytes, inflater_.inflate_zstd(name(frame), compressed(frame), out));
    context_.progress->add_bytes(bytes);
    return bytes;
  }

  Result<MappedFile> finished(int64_t bytes) {
    return MappedFile::from_block(file_.origin(), std::move(plain_), head_ + bytes);
  }

  const MappedFile& file_;
  const OpenContext& context_;
  const int64_t items_;
  int64_t head_ = 0;
  Block packed_, plain_;
  FrameInflater inflater_;
};

}  // namespace

Result<MappedFile> unpack_litdata_batches(const MappedFile& file, const ShardEntry& entry,
                                          const OpenContext& context) {
  Unpacking unpacking(file, entry, context);
  DL_RETURN_IF_ERROR(unpacking.read());
  return unpacking.batches();
}

Result<MappedFile> unpack_litdata_items(const MappedFile& file, const ShardEntry& entry,
                                        const OpenContext& context) {
  Unpacking unpacking(file, entry, context);
  DL_RETURN_IF_ERROR(unpacking.read());
  return unpacking.items();
}

}  // namespace dataline
