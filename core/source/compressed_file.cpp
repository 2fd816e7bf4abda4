// SPDX-License-Identifier: Apache-2.0
#include "core/source/compressed_file.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include "core/source/frames.h"
#include "core/source/gzip.h"
#include "core/source/names.h"

namespace dataline {
namespace {

Result<Block> room_for(int64_t bytes, const std::string& path, const OpenContext& context) {
  return context.memory->allocate(bytes, 64, MemoryKind::kData, path.c_str());
}

Result<MappedFile> inflate(const MappedFile& file, Bytes compressed, const InflatedSize& gzip_size,
                           const OpenContext& context) {
  if (!gzip_size) {
    DL_ASSIGN_OR_RETURN(InflatedGzip all, inflate_gzip(file.path(), compressed, context));
    return MappedFile::from_block(file.origin(), std::move(all.block), all.bytes);
  }
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

enum class Compression : uint8_t { kNone, kGzip, kZstd };

// Skippable frames may come before the first frame of Zstandard: they are looked past, because a file of another kind may begin
// with the magic of one by chance.
Result<Compression> compression_of(const MappedFile& file) {
  for (int64_t at = 0;;) {
    std::array<std::byte, kSkippableHeaderBytes> first{};
    const int64_t count = std::min(file.bytes() - at, kSkippableHeaderBytes);
    DL_RETURN_IF_ERROR(file.read(at, count, first.data()));
    const Bytes start = Bytes(first).first(static_cast<size_t>(count));
    if (at == 0 && is_gzip(start)) return Compression::kGzip;
    const std::optional<int64_t> skipped = skippable_frame_bytes(start);
    const bool fits = skipped && *skipped <= file.bytes() - at;
    if (!fits) {
      // By its name a file that is cut, or damaged, is one of Zstandard too.
      const bool named = has_suffix(file.path(), ".zst") && (at > 0 || is_zstd(start));
      const bool only_skippable = at > 0 && count == 0;
      return named || only_skippable || is_zstd_frame(start) ? Compression::kZstd : Compression::kNone;
    }
    at += *skipped;
  }
}

}  // namespace

bool is_compressed(Bytes first) { return is_gzip(first) || is_zstd(first); }

std::string inflated_note(Bytes first, const MappedFile& file) {
  return concat(is_zstd(first) ? frame_codec_name(FrameCodec::kZstd) : "gzip", ": decompressed into ",
                file.bytes(), " bytes of memory");
}

Result<MappedFile> open_maybe_compressed(const std::string& path, const InflatedSize& gzip_size,
                                         const OpenContext& context) {
  DL_ASSIGN_OR_RETURN(MappedFile file, MappedFile::open_unloaded(path, context));
  DL_ASSIGN_OR_RETURN(const Compression compression, compression_of(file));
  if (compression == Compression::kNone) return file;
  // A copy, because a file that is truncated while the decoder reads its mapping would raise SIGBUS.
  DL_ASSIGN_OR_RETURN(const Block packed, room_for(file.bytes(), path, context));
  DL_RETURN_IF_ERROR(file.read_all(packed.data(), context));
  DL_RETURN_IF_ERROR(file.change_since_open().status);
  const Bytes compressed(packed.data(), static_cast<size_t>(file.bytes()));
  return compression == Compression::kZstd ? inflate_zstd(file, compressed, context)
                                           : inflate(file, compressed, gzip_size, context);
}

}  // namespace dataline
