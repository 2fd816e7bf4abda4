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

// The decimal number that the text is, without signs, spaces and needless zeros.
std::optional<int64_t> number_of(std::string_view text) {
  int64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [at, failure] = std::from_chars(text.data(), end, value);
  if (failure != std::errc() || at != end || value < 0) return std::nullopt;
  return value;
}

// Whether the writer gives this name to a file, for a shard or until it is complete: part-00007.arrow, part-00007.arrow.new0.
bool is_shard_file(std::string_view name, std::string_view suffix) {
  constexpr std::string_view kPart = "part-", kNew = ".new";
  if (!name.starts_with(kPart)) return false;
  const size_t digits = name.find_first_not_of("0123456789", kPart.size());
  if (digits == std::string_view::npos) return false;
  const std::optional<int64_t> number = number_of(name.substr(kPart.size(), digits - kPart.size()));
  if (!number) return false;
  const std::string shard = shard_name(*number, suffix);
  if (!name.starts_with(shard)) return false;
  const std::string_view rest = name.substr(shard.size());
  if (rest.empty()) return true;
  if (!rest.starts_with(kNew)) return false;
  const std::optional<int64_t> attempt = number_of(rest.substr(kNew.size()));
  return attempt && rest.substr(kNew.size()) == std::to_string(*attempt);
}

// Before anything is changed: the names that the writer uses are those of regular files.
Status check_kinds(const OutputDirectory& directory, const std::vector<std::string>& names,
                   std::string_view suffix) {
  for (const std::string& name : names) {
    if (name != kManifestName && !is_shard_file(name, suffix)) continue;
    DL_ASSIGN_OR_RETURN(const bool file, directory.is_plain_file(name));
    if (file) continue;
    return error(Code::kWrongState, directory.path_of(name),
                 ": is no regular file, so no writer made it: move it away, or choose another name");
  }
  return Status::ok();
}

// A writer makes the first line durable before anything else.
Status refuse_foreign(const OutputDirectory& directory, const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    if (name == kManifestName) continue;
    return error(
        Code::kWrongState, directory.partial(), ": has files (", printable(name),
        ") and no manifest that counts them, so no writer made it: move them away, or choose another "
        "name");
  }
  return Status::ok();
}

Status remove_others(const OutputDirectory& directory, const std::vector<std::string>& names,
                     const std::vector<ManifestShard>& kept, std::string_view suffix) {
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
  DL_ASSIGN_OR_RETURN(const std::vector<std::string> names, directory.names());
  DL_RETURN_IF_ERROR(check_kinds(directory, names, suffix));
  const std::string path = directory.path_of(kManifestName);
  DL_ASSIGN_OR_RETURN(const std::string text, read_manifest(path));
  DL_ASSIGN_OR_RETURN(Manifest manifest, parse_manifest(path, text));
  WrittenShards out;
  if (manifest.head_end == 0) {
    DL_RETURN_IF_ERROR(refuse_foreign(directory, names));
    return out;
  }
  const bool same_job = manifest.head + "\n" == head_line(head);
  if (!same_job && !manifest.shards.empty()) {
    return error(Code::kStateRefused, directory.partial(), ": has ", manifest.shards.size(),
                 " finished shards of another job: ", head_difference(path, manifest.head, head),
                 "; go on as before, or remove it");
  }
  if (!same_job) {  // and it finished none: what it left has the names of its own format
    const WriteFormat* const format = find_write_format(manifest.format);
    if (format == nullptr)
      return error(Code::kCorrupt, path, ": line 1: the format ", printable(manifest.format),
                   " is not one that is written: ", write_format_names());
    DL_RETURN_IF_ERROR(check_kinds(directory, names, format->suffix));
    DL_RETURN_IF_ERROR(remove_others(directory, names, {}, format->suffix));
    return out;
  }
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
  DL_RETURN_IF_ERROR(remove_others(directory, names, out.shards, suffix));
  return out;
}

}  // namespace dataline
