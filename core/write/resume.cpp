// SPDX-License-Identifier: Apache-2.0
#include "core/write/resume.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>

#include "core/base/simd.h"
#include "core/source/files.h"
#include "core/source/tfrecord/crc32c.h"
#include "core/write/shard_encoder.h"

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
    return error(Code::kTooLarge, path, ": ", facts.bytes, " bytes, expected at most ", kMaxManifestBytes);
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

// The decimal number that the text is, without signs, spaces and needless zeros.
std::optional<int64_t> number_of(std::string_view text) {
  int64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [at, failure] = std::from_chars(text.data(), end, value);
  if (failure != std::errc() || at != end || value < 0) return std::nullopt;
  return value;
}

// Whether the name is `shard` itself, or what its file has until it is complete: part-00007.arrow.new0.
bool is_file_of(std::string_view name, std::string_view shard) {
  constexpr std::string_view kNew = ".new";
  if (!name.starts_with(shard)) return false;
  const std::string_view rest = name.substr(shard.size());
  if (rest.empty()) return true;
  if (!rest.starts_with(kNew)) return false;
  const std::optional<int64_t> attempt = number_of(rest.substr(kNew.size()));
  return attempt && rest.substr(kNew.size()) == std::to_string(*attempt);
}

// Whether a writer gives this name to a file of some shard.
bool is_shard_file(std::string_view name, std::string_view suffix) {
  constexpr std::string_view kPart = "part-";
  if (!name.starts_with(kPart)) return false;
  const size_t digits = name.find_first_not_of("0123456789", kPart.size());
  if (digits == std::string_view::npos) return false;
  const std::optional<int64_t> number = number_of(name.substr(kPart.size(), digits - kPart.size()));
  return number && is_file_of(name, shard_name(*number, suffix));
}

// Before anything is changed: the names that the writer uses are those of regular files, and of no others.
Status check_kinds(const OutputDirectory& directory, const std::vector<std::string>& names,
                   std::string_view suffix) {
  for (const std::string& name : names) {
    if (name != kManifestName && !is_shard_file(name, suffix)) continue;
    DL_ASSIGN_OR_RETURN(const OutputDirectory::Kind kind, directory.kind_of(name));
    if (kind == OutputDirectory::Kind::kFile) continue;
    return error(
        Code::kWrongState, directory.path_of(name),
        kind == OutputDirectory::Kind::kShared ? ": has more than one hard link" : ": is not a regular file",
        ", so it was not created by a writer: move it away, or choose another name");
  }
  return Status::ok();
}

// A writer makes the first line durable before anything else.
Status refuse_foreign(const OutputDirectory& directory, const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    if (name == kManifestName) continue;
    return error(Code::kWrongState, directory.partial(), ": has files (", printable(name),
                 ") that no manifest lists, so it was not created by a writer: move them away, or choose "
                 "another name");
  }
  return Status::ok();
}

// So that nothing outside the directory is looked at, nothing twice, and no other file is removed.
Status check_shard_names(const std::string& path, const Manifest& manifest, std::string_view suffix) {
  for (size_t s = 0; s < manifest.shards.size(); ++s) {
    const std::string expected = shard_name(static_cast<int64_t>(s), suffix);
    if (manifest.shards[s].name == expected) continue;
    return error(Code::kCorrupt, path, ": line ", s + 2, ": expected the shard ", expected, ", got ",
                 printable(manifest.shards[s].name));
  }
  return Status::ok();
}

// What a killed writer of a set can have left behind the first `right` shards: those that the manifest lists, and the file of the next
// one, which has no line yet.
bool may_be_left(std::string_view name, const Manifest& manifest, size_t right, std::string_view suffix) {
  for (size_t s = right; s < manifest.shards.size(); ++s) {
    if (name == manifest.shards[s].name) return true;
  }
  return is_file_of(name, shard_name(static_cast<int64_t>(manifest.shards.size()), suffix));
}

// Before anything is changed: each file that readers of the set would take for a shard is one, or may_be_left().
Status refuse_other_shards(const OutputDirectory& directory, const std::vector<std::string>& names,
                           const Manifest& manifest, size_t right, std::string_view suffix) {
  for (const std::string& name : names) {
    if (!is_shard_file(name, suffix) && !name.ends_with(suffix)) continue;
    const auto right_end = manifest.shards.begin() + static_cast<std::ptrdiff_t>(right);
    const bool counts = std::any_of(manifest.shards.begin(), right_end,
                                    [&](const ManifestShard& shard) { return shard.name == name; });
    if (counts || may_be_left(name, manifest, right, suffix)) continue;
    return error(
        Code::kWrongState, directory.path_of(name), ": ", kManifestName, " lists ", manifest.shards.size(),
        manifest.shards.size() == 1 ? " shard" : " shards",
        ", but not this file, so it was not created by a writer: move it away, or choose another name");
  }
  return Status::ok();
}

// Durable before the manifest loses their lines: what came back without one would be no writer's.
Status remove_left(const OutputDirectory& directory, const std::vector<std::string>& names,
                   const Manifest& manifest, size_t right, std::string_view suffix) {
  bool removed = false;
  for (const std::string& name : names) {
    if (!may_be_left(name, manifest, right, suffix)) continue;
    DL_RETURN_IF_ERROR(directory.remove(name));
    removed = true;
  }
  return removed ? directory.sync() : Status::ok();
}

}  // namespace

Result<WrittenShards> find_written_shards(const OutputDirectory& directory, const ManifestHead& head,
                                          std::string_view suffix) {
  DL_ASSIGN_OR_RETURN(const std::vector<std::string> names, directory.names());
  DL_RETURN_IF_ERROR(check_kinds(directory, names, suffix));
  const std::string path = directory.path_of(kManifestName);
  DL_ASSIGN_OR_RETURN(const std::string text, read_manifest(path));
  DL_ASSIGN_OR_RETURN(Manifest manifest, parse_manifest(path, text));
  WrittenShards out;
  if (manifest.bytes_behind > 0) {
    return error(Code::kCorrupt, path, ": ", manifest.bytes_behind, " bytes from offset ",
                 static_cast<int64_t>(text.size()) - manifest.bytes_behind,
                 " follow its last line: remove them, or choose another name");
  }
  if (manifest.head_end == 0) {
    DL_RETURN_IF_ERROR(refuse_foreign(directory, names));
    return out;
  }
  const bool same_job = manifest.head + "\n" == head_line(head);
  if (!same_job && !manifest.shards.empty()) {
    return error(Code::kStateRefused, directory.partial(), ": has ", manifest.shards.size(),
                 " finished shards of another job: ", head_difference(path, manifest.head, head),
                 "; resume with the same job, or remove it");
  }
  if (!same_job) {  // and it finished none: what it left has the names of its own format
    const WriteFormat* const format = find_write_format(manifest.format);
    if (format == nullptr)
      return error(Code::kCorrupt, path, ": line 1: the format ", printable(manifest.format),
                   " cannot be written, expected one of ", write_format_names());
    DL_RETURN_IF_ERROR(check_kinds(directory, names, format->suffix));
    if (format->suffix != suffix)
      DL_RETURN_IF_ERROR(refuse_other_shards(directory, names, manifest, 0, suffix));
    DL_RETURN_IF_ERROR(refuse_other_shards(directory, names, manifest, 0, format->suffix));
    DL_RETURN_IF_ERROR(remove_left(directory, names, manifest, 0, format->suffix));
    return out;
  }
  out.manifest_bytes = manifest.head_end;
  DL_RETURN_IF_ERROR(check_shard_names(path, manifest, suffix));
  for (size_t s = 0; s < manifest.shards.size(); ++s) {
    DL_ASSIGN_OR_RETURN(const bool whole, is_whole(directory, manifest.shards[s]));
    if (!whole) break;
    out.shards.push_back(manifest.shards[s]);
    out.manifest_bytes = manifest.line_ends[s];
  }
  DL_RETURN_IF_ERROR(refuse_other_shards(directory, names, manifest, out.shards.size(), suffix));
  DL_RETURN_IF_ERROR(remove_left(directory, names, manifest, out.shards.size(), suffix));
  return out;
}

}  // namespace dataline
