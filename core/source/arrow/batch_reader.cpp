// SPDX-License-Identifier: Apache-2.0
#include "core/source/arrow/batch_reader.h"

#include <algorithm>
#include <string>

#include "core/base/checked.h"

namespace dataline {
namespace {

constexpr int64_t kNodeBytes = 16, kBufferBytes = 16;  // structs of two i64

namespace batch_table {
constexpr int kLength = 0, kNodes = 1, kBuffers = 2, kCompression = 3, kVariadic = 4;
}
namespace compression_table {
constexpr int kCodec = 0, kMethod = 1;
}

// Bytes of `count` items of so many bits.
std::optional<int64_t> bytes_of_bits(int64_t count, int64_t bits) {
  const std::optional<int64_t> total = checked_multiply(count, bits);
  if (!total || *total > INT64_MAX - 7) return std::nullopt;
  return (*total + 7) / 8;
}

}  // namespace

Status ArrowBatchReader::read(const FlatTable& batch, const ArrowMessage& message, int64_t number) {
  message_ = &message;
  number_ = number;
  FlatBuffer& flat = batch.buffer();
  rows_ = batch.number<int64_t>(batch_table::kLength);
  nodes_ = batch.vector(batch_table::kNodes, kNodeBytes);
  buffers_ = batch.vector(batch_table::kBuffers, kBufferBytes);
  const FlatTable compression = batch.table(batch_table::kCompression);
  const FlatVector variadic = batch.vector(batch_table::kVariadic, 8);
  if (!flat.ok()) return flat.take_status();
  DL_ASSIGN_OR_RETURN(const std::optional<FrameCodec> codec, codec_of(compression));
  if (codec && inflation_ == nullptr) return compressed_ = true, Status::ok();
  if (inflation_ != nullptr) inflation_->begin_message(codec);
  if (rows_ < 0 || rows_ > kMaxArrowRows) return refuse(Code::kCorrupt, "has ", rows_, " rows");
  DL_RETURN_IF_ERROR(place_buffers(variadic));
  DL_RETURN_IF_ERROR(check_lengths());
  slots_.assign(slots_.size(), -1);
  slots_[kArrowBatchBytesSlot] = 0;
  nulls_.assign(slots_.size(), 0);
  for (const ArrowTake& take : layout_.takes) DL_RETURN_IF_ERROR(fill(take));
  return Status::ok();
}

Result<std::optional<FrameCodec>> ArrowBatchReader::codec_of(const FlatTable& compression) const {
  if (!compression.present()) return std::optional<FrameCodec>();
  const int codec = compression.number<int8_t>(compression_table::kCodec);
  const int method = compression.number<int8_t>(compression_table::kMethod);
  if (codec < 0 || codec > 1 || method != 0)
    return refuse(Code::kUnsupported, "is compressed with codec ", codec, " by method ", method,
                  ", expected 0 (LZ4) or 1 (Zstandard) by method 0 (each buffer)");
  return std::optional(codec == 0 ? FrameCodec::kLz4 : FrameCodec::kZstd);
}

// Where each node's buffers begin: they are as many as the layout says, and variadic ones as the batch says.
Status ArrowBatchReader::place_buffers(const FlatVector& variadic) {
  if (nodes_.size() != static_cast<int64_t>(layout_.nodes.size())) {
    return refuse(Code::kCorrupt, "has ", nodes_.size(), " arrays, the schema has ", layout_.nodes.size());
  }
  first_buffer_.clear();
  view_buffers_.assign(layout_.nodes.size(), 0);
  int64_t next = 0, views = 0;
  for (const ArrowNode& node : layout_.nodes) {
    first_buffer_.push_back(next);
    next += node.buffers;
    if (!node.variadic) continue;
    const int64_t more = views < variadic.size() ? variadic.number<int64_t>(views) : -1;
    ++views;
    if (more < 0 || more > buffers_.size()) return refuse(Code::kCorrupt, "has ", more, " buffers for views");
    view_buffers_[first_buffer_.size() - 1] = more;
    next += more;
  }
  if (next == buffers_.size()) return Status::ok();
  return refuse(Code::kCorrupt, "has ", buffers_.size(), " buffers, the schema needs ", next);
}

// Arrays are as long as the batch, or as the array around them needs.
Status ArrowBatchReader::check_lengths() const {
  for (size_t n = 0; n < layout_.nodes.size(); ++n) {
    const ArrowNode& node = layout_.nodes[n];
    if (!node.used) continue;
    const int64_t items = length(static_cast<int32_t>(n)),
                  nulls = nodes_.number<int64_t>(static_cast<int64_t>(n), 8);
    if (items < 0 || items > kMaxArrowRows || nulls < 0 || nulls > items)
      return refuse(Code::kCorrupt, "has an array of ", items, " values, ", nulls, " of them null");
    if (node.parent < 0) {
      if (items != rows_)
        return refuse(Code::kCorrupt, "has ", rows_, " rows, but one of its columns has ", items);
      continue;
    }
    if (node.per_parent < 0) continue;
    const std::optional<int64_t> needed = checked_multiply(length(node.parent), node.per_parent);
    if (needed && items >= *needed) continue;
    return refuse(Code::kCorrupt, "has an array of ", items, " values inside one of ", length(node.parent),
                  ", which needs ", node.per_parent, " for each");
  }
  return Status::ok();
}

// Of a buffer: where the slots' file has it.
Result<FileExtent> ArrowBatchReader::place_of(const ArrowTake& take, int64_t buffer) {
  const auto offset = buffers_.number<int64_t>(buffer, 0), bytes = buffers_.number<int64_t>(buffer, 8);
  if (!extent_fits(offset, bytes, message_->body_bytes)) {
    return refuse_column(take, Code::kCorrupt, "a buffer of ", bytes, " bytes at byte ", offset,
                         " of the body, which has ", message_->body_bytes);
  }
  if (inflation_ == nullptr) return FileExtent{message_->body_at + offset, bytes};
  return inflation_->add(message_->body_at + offset, bytes);
}

Status ArrowBatchReader::fill(const ArrowTake& take) {
  const int64_t items = length(take.node);
  int64_t& slot = slots_[static_cast<size_t>(take.slot)];
  if (take.kind == ArrowTake::Kind::kItems) {
    slot = items;
    return Status::ok();
  }
  if (take.kind == ArrowTake::Kind::kViewBuffers) return fill_view_buffers(take);
  const int64_t index = first_buffer_[static_cast<size_t>(take.node)] + take.buffer;
  const int64_t nulls = nodes_.number<int64_t>(take.node, 8);
  if (take.kind == ArrowTake::Kind::kValidity && nulls == 0) return Status::ok();
  DL_ASSIGN_OR_RETURN(const FileExtent place, place_of(take, index));
  slot = place.offset;
  const int64_t bytes = place.bytes;
  add_bytes(bytes);
  if (take.kind == ArrowTake::Kind::kBytes) {
    slots_[static_cast<size_t>(take.slot) + 1] = bytes;
    return Status::ok();
  }
  if (take.kind == ArrowTake::Kind::kValidity) nulls_[static_cast<size_t>(take.slot)] = nulls;
  const bool offsets = take.kind == ArrowTake::Kind::kOffsets;
  if (offsets && items == 0) return Status::ok();  // they may be left out
  const std::optional<int64_t> needed = bytes_of_bits(items + (offsets ? 1 : 0), take.item_bits);
  if (needed && bytes >= *needed) return Status::ok();
  return refuse_column(take, Code::kCorrupt, items, " values need ",
                       needed ? std::to_string(*needed) : "more than 2^63", " bytes, the buffer has ", bytes,
                       take.kind == ArrowTake::Kind::kValidity ? " (validity)" : "");
}

Status ArrowBatchReader::fill_view_buffers(const ArrowTake& take) {
  const auto node = static_cast<size_t>(take.node);
  const int64_t count = view_buffers_[node], index = first_buffer_[node] + take.buffer;
  DL_ASSIGN_OR_RETURN(ArrowViewBuffer* const table, add_view_table(count, memory_, tables_));
  for (int64_t b = 0; b < count; ++b) {
    DL_ASSIGN_OR_RETURN(const FileExtent place, place_of(take, index + b));
    table[b] = {place.offset, place.bytes};
    add_bytes(place.bytes);
  }
  slots_[static_cast<size_t>(take.slot)] = static_cast<int64_t>(reinterpret_cast<uintptr_t>(table));
  slots_[static_cast<size_t>(take.slot) + 1] = count;
  return Status::ok();
}

// At most 2^32 buffers within a file, most often none overlap.
void ArrowBatchReader::add_bytes(int64_t bytes) {
  int64_t& all = slots_[kArrowBatchBytesSlot];
  all = std::min(all + bytes, kMaxArrowRows);
}

}  // namespace dataline
