// SPDX-License-Identifier: Apache-2.0
#include "core/source/shards/shard_file.h"

#include <string_view>
#include <utility>

#include "core/base/text.h"
#include "core/source/compressed_file.h"
#include "core/source/files.h"
#include "core/source/gzip.h"

namespace dataline {
namespace {

Status wrong_length(const std::string& path, int64_t expected, int64_t got, const char* what) {
  return error(got < expected ? Code::kTruncated : Code::kCorrupt, path, ": the index states ", expected,
               " bytes, ", what, " ", got);
}

// What its first bytes are not.
Status not_inflated(const std::string& path, const ShardEntry& entry) {
  const std::string_view codec = std::string_view(entry.codec).substr(0, entry.codec.find(':'));
  if (codec == "zstd" || codec == "gz")
    return error(Code::kCorrupt, path, ": offset 0: expected data of ", codec, ", as the index states");
  return error(
      Code::kUnsupported, path, ": is of ", printable(entry.codec),
      ", which is not supported: decompress it (brotli -d, bunzip2, snzip -d), or write the set with zstd "
      "or without compression");
}

Result<MappedFile> open_compressed_shard(const std::string& directory, const ShardEntry& entry,
                                         const OpenContext& context) {
  const std::string path = join_path(directory, entry.compressed);
  const auto size_of_gzip = [&](const std::string&, Bytes compressed) -> Result<int64_t> {
    if (entry.bytes <= max_inflated_bytes(std::ssize(compressed))) return entry.bytes;
    return error(Code::kCorrupt, path, ": the index states ", entry.bytes, " bytes when decompressed, but ",
                 compressed.size(), " compressed bytes can hold at most ",
                 max_inflated_bytes(std::ssize(compressed)));
  };
  DL_ASSIGN_OR_RETURN(MappedFile file, open_maybe_compressed(path, size_of_gzip, context));
  if (entry.compressed_bytes >= 0 && file.file_bytes() != entry.compressed_bytes)
    return wrong_length(path, entry.compressed_bytes, file.file_bytes(), "the file has");
  if (!file.inflated()) return not_inflated(path, entry);
  if (file.bytes() == entry.bytes) return file;
  return wrong_length(path, entry.bytes, file.bytes(), "file decompresses to");
}

}  // namespace

Result<MappedFile> open_shard_file(const std::string& directory, const ShardEntry& entry,
                                   const OpenContext& context) {
  const std::string path = join_path(directory, entry.name);
  Result<MappedFile> opened = MappedFile::open_unloaded(path, context);
  if (opened.is_ok()) {
    if (opened.value().bytes() == entry.bytes)
      return entry.unpack == nullptr ? std::move(opened) : entry.unpack(opened.value(), entry, context);
    return wrong_length(path, entry.bytes, opened.value().bytes(), "the file has");
  }
  if (opened.status().code() != Code::kNotFound || entry.compressed.empty()) return opened;
  Result<MappedFile> inflated = open_compressed_shard(directory, entry, context);
  if (inflated.is_ok() || inflated.status().code() != Code::kNotFound) return inflated;
  return error(Code::kNotFound, path, ": no such file, and no ", printable(entry.compressed), " either");
}

}  // namespace dataline
