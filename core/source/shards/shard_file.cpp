// SPDX-License-Identifier: Apache-2.0
#include "core/source/shards/shard_file.h"

#include <span>
#include <string_view>
#include <utility>

#include "core/base/text.h"
#include "core/source/files.h"
#include "core/source/frames.h"
#include "core/source/gzip.h"

namespace dataline {
namespace {

Status check_length(const MappedFile& file, int64_t expected) {
  if (expected < 0 || file.bytes() == expected) return Status::ok();
  return error(file.bytes() < expected ? Code::kTruncated : Code::kCorrupt, file.path(), ": the index says ",
               expected, " bytes, file has ", file.bytes());
}

Status unread_codec(const std::string& path, const ShardEntry& entry) {
  return error(Code::kUnsupported, path, ": not there, and its compressed file ", printable(entry.compressed),
               " is not read, which ", printable(entry.codec),
               " made: decompress it (brotli -d, bunzip2, snzip -d), or write the set with zstd or without "
               "compression");
}

Result<MappedFile> inflate_shard(MappedFile file, const ShardEntry& entry, std::string_view codec,
                                 const OpenContext& context) {
  const std::string& path = file.path();
  DL_RETURN_IF_ERROR(check_length(file, entry.compressed_bytes));
  const bool zstd = codec == "zstd";
  const int64_t most =
      zstd ? max_inflated_frame_bytes(FrameCodec::kZstd, file.bytes()) : max_inflated_bytes(file.bytes());
  if (entry.bytes > most)
    return error(Code::kCorrupt, path, ": the index says ", entry.bytes, " bytes inflated, ", file.bytes(),
                 " compressed bytes hold at most ", most);
  // A copy, because a file that is cut while its mapping is read would raise SIGBUS.
  HostMemory& memory = *context.memory;
  DL_ASSIGN_OR_RETURN(const Block packed, memory.allocate(file.bytes(), 1, MemoryKind::kData, path.c_str()));
  DL_RETURN_IF_ERROR(file.read_all(packed.data(), context));
  DL_ASSIGN_OR_RETURN(Block plain, memory.allocate(entry.bytes, 64, MemoryKind::kData, path.c_str()));
  const Bytes compressed(packed.data(), static_cast<size_t>(file.bytes()));
  const std::span<std::byte> out(plain.data(), static_cast<size_t>(entry.bytes));
  if (zstd) {
    context.progress->expect_bytes(entry.bytes);
    DL_RETURN_IF_ERROR(FrameInflater().inflate(FrameCodec::kZstd, path, compressed, out));
    context.progress->add_bytes(entry.bytes);
  } else {
    DL_RETURN_IF_ERROR(inflate_exactly(path, compressed, out, context));
  }
  DL_RETURN_IF_ERROR(file.change_since_open().status);
  return MappedFile::from_block(path, std::move(plain), entry.bytes, file.file_bytes());
}

}  // namespace

Result<MappedFile> open_shard_file(const std::string& directory, const ShardEntry& entry,
                                   const OpenContext& context) {
  const std::string path = join_path(directory, entry.name);
  Result<MappedFile> opened = MappedFile::open_unloaded(path, context);
  if (opened.is_ok()) {
    DL_RETURN_IF_ERROR(check_length(opened.value(), entry.bytes));
    return opened;
  }
  if (opened.status().code() != Code::kNotFound || entry.compressed.empty()) return opened;
  Result<MappedFile> compressed = MappedFile::open_unloaded(join_path(directory, entry.compressed), context);
  if (!compressed.is_ok() && compressed.status().code() == Code::kNotFound)
    return error(Code::kNotFound, path, ": no such file, and no ", printable(entry.compressed), " either");
  DL_ASSIGN_OR_RETURN(MappedFile file, std::move(compressed));
  const std::string_view codec = std::string_view(entry.codec).substr(0, entry.codec.find(':'));
  if (codec != "zstd" && codec != "gz") return unread_codec(path, entry);
  return inflate_shard(std::move(file), entry, codec, context);
}

}  // namespace dataline
