// SPDX-License-Identifier: Apache-2.0
#include "core/source/compressed_file.h"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "core/source/frames.h"
#include "core/source/gzip.h"

namespace dataline {
namespace {

Result<Block> room_for(int64_t bytes, const std::string& path, const OpenContext& context) {
  return context.memory->allocate(bytes, 64, MemoryKind::kData, path.c_str());
}

Result<MappedFile> inflate_gzip(const MappedFile& file, Bytes compressed, const InflatedSize& gzip_size,
                                const OpenContext& context) {
  DL_ASSIGN_OR_RETURN(const int64_t size, gzip_size(file.path(), compressed));
  DL_ASSIGN_OR_RETURN(Block plain, room_for(size, file.path(), context));
  const std::span<std::byte> out(plain.data(), static_cast<size_t>(size));
  DL_RETURN_IF_ERROR(inflate_exactly(file.path(), compressed, out, context));
  return MappedFile::from_block(file.origin(), std::move(plain), size);
}

// Most frames do not say how much they hold: there is room for what their blocks can hold at most, of which only what is written
// becomes memory of the machine's.
Result<MappedFile> inflate_zstd(const MappedFile& file, Bytes compressed, const OpenContext& context) {
  DL_ASSIGN_OR_RETURN(const int64_t most, zstd_frames_bound(file.path(), compressed));
  context.progress->expect_bytes(most);
  DL_ASSIGN_OR_RETURN(Block plain, room_for(most, file.path(), context));
  const std::span<std::byte> out(plain.data(), static_cast<size_t>(most));
  DL_ASSIGN_OR_RETURN(const int64_t size, FrameInflater().inflate_zstd(file.path(), compressed, out));
  context.progress->add_bytes(most);
  return MappedFile::from_block(file.origin(), std::move(plain), size);
}

}  // namespace

bool is_compressed(Bytes first) { return is_gzip(first) || is_zstd(first); }

std::string inflated_note(Bytes first, const MappedFile& file) {
  return concat(is_zstd(first) ? frame_codec_name(FrameCodec::kZstd) : "gzip", ": inflated into ",
                file.bytes(), " bytes of memory");
}

Result<MappedFile> open_maybe_compressed(const std::string& path, const InflatedSize& gzip_size,
                                         const OpenContext& context) {
  DL_ASSIGN_OR_RETURN(MappedFile file, MappedFile::open_unloaded(path, context));
  std::array<std::byte, 4> first{};
  const int64_t count = std::min<int64_t>(file.bytes(), std::ssize(first));
  DL_RETURN_IF_ERROR(file.read(0, count, first.data()));
  const Bytes start = Bytes(first).first(static_cast<size_t>(count));
  if (!is_compressed(start)) return file;
  // A copy, because a file that is truncated while the decoder reads its mapping would raise SIGBUS.
  DL_ASSIGN_OR_RETURN(const Block packed, room_for(file.bytes(), path, context));
  DL_RETURN_IF_ERROR(file.read_all(packed.data(), context));
  DL_RETURN_IF_ERROR(file.change_since_open().status);
  const Bytes compressed(packed.data(), static_cast<size_t>(file.bytes()));
  return is_zstd(start) ? inflate_zstd(file, compressed, context)
                        : inflate_gzip(file, compressed, gzip_size, context);
}

}  // namespace dataline
