// SPDX-License-Identifier: Apache-2.0
#include "core/write/resume.h"

#include <algorithm>
#include <string>

#include "core/base/simd.h"
#include "core/source/files.h"
#include "core/source/tfrecord/crc32c.h"

namespace dataline {
namespace {

constexpr int64_t kReadBytes = int64_t{1} << 20;

// "" where there is none.
Result<std::string> read_manifest(const std::string& path) {
  std::string out;
  const Descriptor descriptor = Descriptor::open(path, kFileFlags);
  if (!descriptor) return errno == ENOENT ? Result<std::string>(out) : file_error(path, errno);
  DL_ASSIGN_OR_RETURN(const FileFacts facts, facts_of(descriptor.get(), path));
  if (!facts.is_file) return not_a_file_error(path, facts.mode);
  if (facts.bytes > kMaxManifestBytes)
    return error(Code::kTooLarge, path, ": ", facts.bytes, " bytes, at most ", kMaxManifestBytes);
  out.resize(static_cast<size_t>(facts.bytes));
  const ReadResult read = read_at(descriptor.get(), 0, facts.bytes, reinterpret_cast<std::byte*>(out.data()));
  if (read.number != 0) return file_error_at(path, read.bytes, read.number);
  out.resize(static_cast<size_t>(read.bytes));
  return out;
}

// Whether the file is there, as long as its line says, and with that checksum.
Result<bool> is_whole(const OutputDirectory& directory, const ManifestShard& shard) {
  const std::string path = directory.path_of(shard.name);
  const Descriptor descriptor = Descriptor::open(path, kFileFlags);
  if (!descriptor) return errno == ENOENT ? Result<bool>(false) : file_error(path, errno);
  DL_ASSIGN_OR_RETURN(const FileFacts facts, facts_of(descriptor.get(), path));
  if (!facts.is_file || facts.bytes != shard.bytes) return false;
  const Crc32c checksum(best_simd_target());
  std::vector<std::byte> buffer(static_cast<size_t>(std::min(kReadBytes, shard.bytes)));
  uint32_t crc = 0;
  for (int64_t at = 0; at < shard.bytes;) {
    const int64_t wanted = std::min(kReadBytes, shard.bytes - at);
    const ReadResult read = read_at(descriptor.get(), at, wanted, buffer.data());
    if (read.number != 0) return file_error_at(path, at, read.number);
    if (read.bytes == 0) return false;
    crc = checksum.extend(crc, buffer.data(), read.bytes);
    at += read.bytes;
  }
  return crc == shard.crc32c;
}

// part-00007.arrow, part-00007.arrow.new0
bool is_shard_file(const std::string& name, std::string_view suffix) {
  constexpr std::string_view kPart = "part-";
  if (!name.starts_with(kPart)) return false;
  const size_t digits = name.find_first_not_of("0123456789", kPart.size());
  if (digits == std::string::npos || digits == kPart.size()) return false;
  const std::string_view rest = std::string_view(name).substr(digits);
  return rest == suffix || (rest.starts_with(suffix) && rest.substr(suffix.size()).starts_with(".new"));
}

Status remove_others(const OutputDirectory& directory, const std::vector<ManifestShard>& kept,
                     std::string_view suffix) {
  DL_ASSIGN_OR_RETURN(const std::vector<std::string> names, directory.names());
  for (const std::string& name : names) {
    const bool counts =
        std::any_of(kept.begin(), kept.end(), [&](const ManifestShard& s) { return s.name == name; });
    if (is_shard_file(name, suffix) && !counts) DL_RETURN_IF_ERROR(directory.remove(name));
  }
  return Status::ok();
}

}  // namespace

Result<WrittenShards> find_written_shards(const OutputDirectory& directory, const ManifestHead& head,
                                          std::string_view suffix) {
  const std::string path = directory.path_of(kManifestName);
  DL_ASSIGN_OR_RETURN(const std::string text, read_manifest(path));
  DL_ASSIGN_OR_RETURN(Manifest manifest, parse_manifest(path, text));
  WrittenShards out;
  if (manifest.head + "\n" == head_line(head)) {
    out.manifest_bytes = manifest.head_end;
    for (size_t s = 0; s < manifest.shards.size(); ++s) {
      // Nothing outside the directory is looked at, and nothing twice.
      const std::string expected = shard_name(static_cast<int64_t>(s), suffix);
      if (manifest.shards[s].name != expected) {
        return error(Code::kCorrupt, path, ": line ", s + 2, ": expected the shard ", expected, ", got ",
                     printable(manifest.shards[s].name));
      }
      DL_ASSIGN_OR_RETURN(const bool whole, is_whole(directory, manifest.shards[s]));
      if (!whole) break;
      out.shards.push_back(std::move(manifest.shards[s]));
      out.manifest_bytes = manifest.line_ends[s];
    }
  } else if (!manifest.shards.empty()) {
    return error(Code::kStateRefused, directory.partial(), ": has ", manifest.shards.size(),
                 " finished shards of another job: ", head_difference(path, manifest.head, head),
                 "; go on as before, or remove it");
  }
  DL_RETURN_IF_ERROR(remove_others(directory, out.shards, suffix));
  return out;
}

}  // namespace dataline
