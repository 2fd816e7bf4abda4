// SPDX-License-Identifier: Apache-2.0
#include "core/source/arrow/messages.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "core/base/checked.h"

namespace dataline {
namespace {

constexpr std::string_view kArrowFileMagic = "ARROW1";
constexpr int64_t kArrowMagicBytes = 6, kArrowLeadBytes = 8;  // the magic is padded where the file begins
constexpr int64_t kArrowTailBytes = 4 + kArrowMagicBytes;     // the footer's size, the magic
constexpr uint32_t kArrowMarker = 0xffffffff;
constexpr int64_t kMarkedPrefixBytes = 8, kOldPrefixBytes = 4;
constexpr int64_t kArrowReadBytes = 4096;  // the metadata of a few dozen columns
constexpr int64_t kBlockStructBytes = 24;  // i64 offset, i32 metadata, padding, i64 body
constexpr int16_t kOldestVersion = 3;      // V4

namespace message_table {
constexpr int kVersion = 0, kHeaderType = 1, kHeader = 2, kBodyLength = 3;
}
namespace footer_table {
constexpr int kVersion = 0, kSchema = 1, kDictionaries = 2, kBatches = 3;
}

template <typename... Parts>
Status arrow_error(Code code, const MappedFile& file, int64_t offset, const Parts&... parts) {
  return error(code, file.path(), ": offset ", offset, ": ", parts...);
}

// Returns whether it is the older of the two.
bool check_metadata_version(FlatBuffer& flat, int64_t at, int16_t version) {
  if (version == kOldestVersion || version == kOldestVersion + 1) return version == kOldestVersion;
  flat.refuse(Code::kUnsupported, at, "Arrow metadata of version V", version + 1,
              ", expected V4 or V5 (Arrow 0.8 and later write them)");
  return false;
}

}  // namespace

Result<ArrowMessages::Frame> ArrowMessages::read_frame(int64_t offset) {
  const int64_t there = end_ - offset;
  bytes_.resize(static_cast<size_t>(std::min(there, kArrowReadBytes)));
  DL_RETURN_IF_ERROR(file_.read(offset, static_cast<int64_t>(bytes_.size()), bytes_.data()));
  Frame frame;
  const bool marked = there >= kOldPrefixBytes && load_little<uint32_t>(bytes_.data()) == kArrowMarker;
  frame.prefix_bytes = marked ? kMarkedPrefixBytes : kOldPrefixBytes;
  if (there < frame.prefix_bytes) {
    return arrow_error(Code::kTruncated, file_, offset, "a message starts with ", frame.prefix_bytes,
                       " bytes, but the rest of the file has ", there);
  }
  const auto size = static_cast<int32_t>(load_little<uint32_t>(bytes_.data() + frame.prefix_bytes - 4));
  if (size < 0) {
    return arrow_error(Code::kCorrupt, file_, offset, "expected an Arrow message, its metadata has ", size,
                       " bytes");
  }
  frame.metadata_bytes = size;
  if (size > there - frame.prefix_bytes) {
    return arrow_error(Code::kTruncated, file_, offset, "the metadata of a message has ", size,
                       " bytes, but the rest of the file has ", there - frame.prefix_bytes);
  }
  if (size > kMaxArrowMetadataBytes) {
    return arrow_error(Code::kTooLarge, file_, offset, "the metadata of a message has ", size,
                       " bytes, at most ", kMaxArrowMetadataBytes);
  }
  const auto whole = static_cast<size_t>(frame.prefix_bytes + size);
  if (whole > bytes_.size()) {
    bytes_.resize(whole);
    DL_RETURN_IF_ERROR(file_.read(offset, frame.prefix_bytes + size, bytes_.data()));
  }
  return frame;
}

Result<ArrowMessage> ArrowMessages::parse(int64_t offset, const Frame& frame) {
  const Bytes metadata = Bytes(bytes_).subspan(static_cast<size_t>(frame.prefix_bytes),
                                               static_cast<size_t>(frame.metadata_bytes));
  flat_ = std::make_unique<FlatBuffer>(file_.path(), offset + frame.prefix_bytes, metadata);
  const FlatTable message = flat_->root();
  ArrowMessage out;
  if (flat_->ok()) {
    out.old_unions =
        check_metadata_version(*flat_, message.at(), message.number<int16_t>(message_table::kVersion));
  }
  out.offset = offset;
  out.kind = static_cast<ArrowKind>(message.number<uint8_t>(message_table::kHeaderType));
  out.header = message.table(message_table::kHeader);
  out.body_at = offset + frame.prefix_bytes + frame.metadata_bytes;
  out.body_bytes = message.number<int64_t>(message_table::kBodyLength);
  if (flat_->ok() && !out.header.present())
    flat_->refuse(Code::kCorrupt, message.at(), "a message without a header");
  if (!flat_->ok()) return flat_->take_status();
  return out;
}

Result<std::optional<ArrowMessage>> ArrowMessages::read(int64_t offset) {
  end_mark_ = false;
  next_ = offset;
  if (offset == end_) return std::optional<ArrowMessage>();
  DL_ASSIGN_OR_RETURN(const Frame frame, read_frame(offset));
  if (frame.metadata_bytes == 0) {
    end_mark_ = true;
    next_ = offset + frame.prefix_bytes;
    return std::optional<ArrowMessage>();
  }
  DL_ASSIGN_OR_RETURN(ArrowMessage message, parse(offset, frame));
  if (!extent_fits(message.body_at, message.body_bytes, end_)) {
    return arrow_error(message.body_bytes < 0 ? Code::kCorrupt : Code::kTruncated, file_, offset,
                       "the body of a message has ", message.body_bytes,
                       " bytes, but the rest of the file has ", end_ - message.body_at);
  }
  next_ = message.end();
  return std::optional<ArrowMessage>(message);
}

Result<ArrowMessage> ArrowMessages::read(const ArrowBlock& block, ArrowKind kind) {
  const int64_t there = end_ - begin_;
  if (!extent_fits(block.offset, block.metadata_bytes, there) ||
      !extent_fits(block.offset + block.metadata_bytes, block.body_bytes, there)) {
    return arrow_error(Code::kTruncated, file_, end_, "the footer places a message of ", block.metadata_bytes,
                       " and ", block.body_bytes, " bytes at offset ", block.offset, ", but messages end at ",
                       there);
  }
  const int64_t at = begin_ + block.offset;
  block_bytes_ += block.metadata_bytes + block.body_bytes;  // each is at most the size of the file
  if (block_bytes_ > there) {
    return arrow_error(Code::kCorrupt, file_, at, "the footer's messages have ", block_bytes_,
                       " bytes so far, but the file has ", there, ": some of them overlap");
  }
  DL_ASSIGN_OR_RETURN(const Frame frame, read_frame(at));
  if (frame.metadata_bytes == 0)
    return arrow_error(Code::kCorrupt, file_, at, "an end mark, but the footer lists a message");
  DL_ASSIGN_OR_RETURN(ArrowMessage message, parse(at, frame));
  if (message.kind != kind) {
    return arrow_error(Code::kCorrupt, file_, at, "a message of kind ", static_cast<int>(message.kind),
                       ", the footer states ", static_cast<int>(kind), " (2 dictionary, 3 record batch)");
  }
  if (message.body_bytes != block.body_bytes || message.body_at > at + block.metadata_bytes) {
    return arrow_error(Code::kCorrupt, file_, at, "a message of ", message.body_at - at, " and ",
                       message.body_bytes, " bytes, the footer states ", block.metadata_bytes, " and ",
                       block.body_bytes);
  }
  message.body_at = at + block.metadata_bytes;
  return message;
}

ArrowBlock ArrowFooter::block(const FlatVector& blocks, int64_t i) {
  return {blocks.number<int64_t>(i, 0), blocks.number<int32_t>(i, 8), blocks.number<int64_t>(i, 16)};
}

Result<ArrowFooter> ArrowFooter::read(const MappedFile& file, FileExtent place, const OpenContext& context) {
  const int64_t end = place.offset + place.bytes, room = place.bytes - kArrowLeadBytes - kArrowTailBytes;
  if (room < 0) {
    return arrow_error(Code::kTruncated, file, place.offset, "expected an Arrow file of ",
                       kArrowLeadBytes + kArrowTailBytes, " bytes or more, got ", place.bytes);
  }
  std::array<std::byte, kArrowTailBytes> tail;
  DL_RETURN_IF_ERROR(file.read(end - kArrowTailBytes, kArrowTailBytes, tail.data()));
  const std::string_view magic(reinterpret_cast<const char*>(tail.data()) + 4, kArrowMagicBytes);
  if (magic != kArrowFileMagic) {
    return arrow_error(
        Code::kTruncated, file, end - kArrowMagicBytes,
        "expected 'ARROW1' at the end of the Arrow file: it is truncated, or its writer was not closed");
  }
  const auto size = static_cast<int32_t>(load_little<uint32_t>(tail.data()));
  if (size <= 0 || size > room) {
    return arrow_error(Code::kCorrupt, file, end - kArrowTailBytes, "the footer has ", size,
                       " bytes, but there is room for ", room);
  }
  if (size > kMaxArrowFooterBytes) {
    return arrow_error(Code::kTooLarge, file, end - kArrowTailBytes, "a footer of ", size, " bytes, at most ",
                       kMaxArrowFooterBytes);
  }
  ArrowFooter out;
  const int64_t at = end - kArrowTailBytes - size;
  out.messages_ = {place.offset, at - place.offset};
  DL_ASSIGN_OR_RETURN(
      out.bytes_, context.memory->allocate(size, 64, MemoryKind::kMetadata, "the footer of an Arrow file"));
  DL_RETURN_IF_ERROR(file.read(at, size, out.bytes_.data()));
  out.flat_ =
      std::make_unique<FlatBuffer>(file.path(), at, Bytes(out.bytes_.data(), static_cast<size_t>(size)));
  const FlatTable footer = out.flat_->root();
  if (out.flat_->ok()) {
    // Some writers before Arrow 0.15 left it out, though their messages, which say it too, are V4.
    const auto version = footer.number<int16_t>(footer_table::kVersion);
    out.old_unions_ = check_metadata_version(*out.flat_, 0, version == 0 ? kOldestVersion : version);
  }
  out.schema_ = footer.table(footer_table::kSchema);
  out.dictionaries_ = footer.vector(footer_table::kDictionaries, kBlockStructBytes);
  out.batches_ = footer.vector(footer_table::kBatches, kBlockStructBytes);
  if (out.flat_->ok() && !out.schema_.present())
    out.flat_->refuse(Code::kCorrupt, 0, "a footer without a schema");
  if (!out.flat_->ok()) return out.flat_->take_status();
  return out;
}

bool begins_arrow_stream(Bytes first) {
  if (first.size() < static_cast<size_t>(kMarkedPrefixBytes)) return false;
  const auto size = static_cast<int32_t>(load_little<uint32_t>(first.data() + 4));
  if (load_little<uint32_t>(first.data()) != kArrowMarker || size <= 0 || size > kMaxArrowMetadataBytes)
    return false;
  const std::string nowhere;
  FlatBuffer flat(nowhere, 0, first.subspan(static_cast<size_t>(kMarkedPrefixBytes)));
  const FlatTable message = flat.root();
  const auto version = message.number<int16_t>(message_table::kVersion);
  const auto kind = message.number<uint8_t>(message_table::kHeaderType);
  return flat.ok() && version >= 0 && version <= kOldestVersion + 1 &&
         kind == static_cast<uint8_t>(ArrowKind::kSchema) &&
         message.number<int64_t>(message_table::kBodyLength) == 0;
}

}  // namespace dataline
