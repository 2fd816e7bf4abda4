// SPDX-License-Identifier: Apache-2.0
#include "core/source/arrow/inflation.h"

#include <algorithm>
#include <new>
#include <utility>

#include "core/base/bytes.h"
#include "core/base/checked.h"
#include "core/base/thread.h"
#include "core/memory/machine_limits.h"

namespace dataline {
namespace {

constexpr int64_t kLengthBytes = 8;
constexpr int64_t kAsItIs = -1;
constexpr int64_t kBufferAlignment = 64;
constexpr int64_t kMostInflated = int64_t{1} << 48;  // more than machines have
constexpr int64_t kMaxInflators = 8;                 // beyond that memory is what is waited for

}  // namespace

ArrowInflation::ArrowInflation(const MappedFile& file, const OpenContext& context)
    : file_(file), context_(context), memory_(context.memory, MemoryKind::kTable), buffers_(&memory_) {}

void ArrowInflation::begin_message(std::optional<FrameCodec> codec) {
  of_message_.clear();
  codec_ = codec;
  if (codec) used_[static_cast<size_t>(*codec)] = true;
}

Result<ArrowInflation::Buffer> ArrowInflation::describe(int64_t at, int64_t bytes) const {
  if (!codec_) return Buffer{{at, bytes}, {end_, bytes}, {}};
  if (bytes < kLengthBytes)
    return error(Code::kCorrupt, file_.path(), ": offset ", at, ": a compressed buffer of ", bytes,
                 " bytes, but its length alone needs ", kLengthBytes);
  std::array<std::byte, kLengthBytes> length_bytes;
  DL_RETURN_IF_ERROR(file_.read(at, kLengthBytes, length_bytes.data()));
  const auto length = static_cast<int64_t>(load_little<uint64_t>(length_bytes.data()));
  const FileExtent from{at + kLengthBytes, bytes - kLengthBytes};
  if (length == kAsItIs) return Buffer{from, {end_, from.bytes}, {}};
  const int64_t most = max_inflated_frame_bytes(*codec_, from.bytes);
  if (length < 0 || length > most)
    return error(Code::kCorrupt, file_.path(), ": offset ", at, ": a compressed buffer states ", length,
                 " bytes, ", from.bytes, " of ", frame_codec_name(*codec_), " can hold at most ", most);
  return Buffer{from, {end_, length}, codec_};
}

Result<FileExtent> ArrowInflation::add(int64_t at, int64_t bytes) {
  if (bytes == 0) return FileExtent{end_, 0};
  const auto known = of_message_.find({at, bytes});
  if (known != of_message_.end()) return known->second;
  DL_ASSIGN_OR_RETURN(const Buffer buffer, describe(at, bytes));
  if (buffer.to.bytes > kMostInflated - kBufferAlignment - end_)
    return error(Code::kTooLarge, file_.path(), ": offset ", at, ": its buffers decompress to more than ",
                 kMostInflated, " bytes");
  end_ = round_up(end_ + buffer.to.bytes, kBufferAlignment);
  largest_ = std::max(largest_, buffer.from.bytes);
  buffers_.push_back(buffer);
  of_message_.emplace(std::pair(at, bytes), buffer.to);
  return buffer.to;
}

std::string ArrowInflation::codecs() const {
  std::string text;
  for (const FrameCodec codec : {FrameCodec::kLz4, FrameCodec::kZstd}) {
    if (!used_[static_cast<size_t>(codec)]) continue;
    if (!text.empty()) text += " and ";
    text += frame_codec_name(codec);
  }
  return text;
}

Result<MappedFile> ArrowInflation::run() {
  context_.progress->expect_bytes(end_);
  DL_ASSIGN_OR_RETURN(out_, context_.memory->allocate(end_, kBufferAlignment, MemoryKind::kData,
                                                      concat("decompressing ", file_.path()).c_str()));
  // A host's storage may not expect to be read from threads that nobody told it of.
  const int64_t wanted =
      file_.calls_host() ? 1 : std::min<int64_t>({available_cpus(), std::ssize(buffers_), kMaxInflators});
  run_in_threads("dl-inflate", wanted, [this](bool here) { work(/*reports=*/here); });
  if (refused_ != nullptr) std::rethrow_exception(refused_);
  if (context_.cancelled())
    return error(Code::kCancelled, file_.path(), ": cancelled while it was decompressed");
  ThreadLock lock(mutex_);
  // What was wrong may be that the file is another by now.
  DL_RETURN_IF_ERROR(file_.change_since_open().status);
  if (failure_) return std::move(failure_->status);
  return MappedFile::from_block(file_.origin(), std::move(out_), end_);
}

void ArrowInflation::work(bool reports) noexcept {
  size_t buffer = 0;
  try {
    Status status = inflate_all(reports, buffer);
    if (!status.is_ok()) fail(buffer, std::move(status));
  } catch (...) {  // memory is all that can run out here
    if (!out_of_memory_.exchange(true)) refused_ = std::current_exception();
    stop_.store(true);
  }
}

// `buffer`: the one that is worked at. They are taken in their order, so that every one before the first bad one is done.
Status ArrowInflation::inflate_all(bool reports, size_t& buffer) {
  FrameInflater inflater;
  DL_ASSIGN_OR_RETURN(const Block room,
                      context_.memory->allocate(largest_, kBufferAlignment, MemoryKind::kMetadata,
                                                "a compressed buffer of an Arrow file"));
  while (!stop_.load() && !context_.cancelled()) {
    buffer = next_.fetch_add(
        1, std::memory_order_relaxed);  // relaxed: a ticket; the bytes are published by the joins
    if (buffer >= buffers_.size()) return Status::ok();
    DL_RETURN_IF_ERROR(inflate(buffers_[buffer], inflater, room.data()));
    context_.progress->add_bytes(buffers_[buffer].to.bytes);
    if (reports) context_.report("decompressing ", file_.path());
  }
  return Status::ok();
}

Status ArrowInflation::inflate(const Buffer& buffer, FrameInflater& inflater, std::byte* room) const {
  std::byte* const to = out_.data() + buffer.to.offset;
  if (!buffer.codec) return file_.read(buffer.from.offset, buffer.from.bytes, to);
  // Copied out, because a file that is cut while its mapping is read would raise SIGBUS.
  DL_RETURN_IF_ERROR(file_.read(buffer.from.offset, buffer.from.bytes, room));
  return inflater.inflate(*buffer.codec, concat(file_.path(), ": offset ", buffer.from.offset),
                          Bytes(room, static_cast<size_t>(buffer.from.bytes)),
                          {to, static_cast<size_t>(buffer.to.bytes)});
}

void ArrowInflation::fail(size_t buffer, Status status) {
  stop_.store(true);
  ThreadLock lock(mutex_);
  if (!failure_ || buffer < failure_->buffer) failure_ = Failure{buffer, std::move(status)};
}

}  // namespace dataline
