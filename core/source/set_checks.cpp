// SPDX-License-Identifier: Apache-2.0
#include "core/source/set_checks.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "core/base/checked.h"
#include "core/base/simd.h"
#include "core/base/text.h"
#include "core/memory/host_storage.h"
#include "core/memory/locked_file.h"
#include "core/source/files.h"
#include "core/source/format.h"
#include "core/source/tfrecord/crc32c.h"
#include "core/source/tfrecord/record_index.h"

namespace dataline {
namespace {

constexpr int64_t kPieceBytes = int64_t{1} << 20;  // read between two looks at the cancel token

struct SplitPath {
  std::string directory;  // with its slash, or ""
  std::string name;
};

SplitPath split(const std::string& path) {
  const size_t slash = path.find_last_of("/\\");
  const size_t begin = slash == std::string::npos ? 0 : slash + 1;
  return {path.substr(0, begin), path.substr(begin)};
}

std::string samples_text(int64_t samples) {
  return concat(" (", samples, samples == 1 ? " sample)" : " samples)");
}

// Whether something has this name, also a link that leads nowhere.
bool is_entry(const std::string& path) {
  const SplitPath parts = split(path);
  const Result<SharedDirectory> directory =
      SharedDirectory::open(parts.directory.empty() ? "." : parts.directory, WhenMissing::kFail);
  return directory.is_ok() && directory.value().facts(parts.name).is_ok();
}

// The lines of shards and the last line, against each other.
Status check_sums(const std::string& path, const Manifest& manifest) {
  if (!manifest.end) {
    return error(Code::kTruncated, path, ": has no last line: the set is incomplete, and has ",
                 manifest.shards.size(), " shards");
  }
  ManifestEnd sums;
  for (const ManifestShard& shard : manifest.shards) {
    const std::optional<int64_t> samples = checked_add(sums.samples, shard.samples);
    const std::optional<int64_t> bytes = checked_add(sums.bytes, shard.bytes);
    if (!samples || !bytes)
      return error(Code::kCorrupt, path, ": its shards add up to more than 2^63 - 1 samples or bytes");
    sums = {*samples, *bytes, sums.shards + 1};
  }
  const ManifestEnd& end = *manifest.end;
  if (sums.samples == end.samples && sums.bytes == end.bytes && sums.shards == end.shards)
    return Status::ok();
  return error(Code::kCorrupt, path, ": its lines add up to ", sums.samples, " samples, ", sums.bytes,
               " bytes and ", sums.shards, " shards, but its last line states ", end.samples, ", ", end.bytes,
               " and ", end.shards);
}

}  // namespace

Status SetChecks::load(Set& set) const {
  OpenContext context = context_;
  context.io = IoMode::kPread;
  set.there = true;
  Result<MappedFile> file = MappedFile::open_unloaded(set.path, context);
  if (!file.is_ok()) {
    // A set need not have a manifest; what a storage of the host's says of an object that it lacks is not known.
    if (storage_of(set.path, context.storages) != nullptr) return Status::ok();
    if (file.status().code() != Code::kNotFound) return file.take_status();
    if (!is_entry(set.path)) {
      set.there = false;
      return Status::ok();
    }
    return error(Code::kNotFound, set.path, ": is a broken link: the files next to it are not compared");
  }
  if (file.value().bytes() > kMaxManifestBytes)
    return error(Code::kTooLarge, set.path, ": ", file.value().bytes(), " bytes, at most ",
                 kMaxManifestBytes);
  std::string text(static_cast<size_t>(file.value().bytes()), '\0');
  DL_RETURN_IF_ERROR(file.value().read(0, file.value().bytes(), reinterpret_cast<std::byte*>(text.data())));
  DL_ASSIGN_OR_RETURN(Manifest manifest, parse_manifest(set.path, text));
  if (manifest.head_end == 0) {
    return error(Code::kTruncated, set.path, ": has ", text.size(),
                 " bytes and no complete first line, so the files next to it are not compared");
  }
  for (size_t s = 0; s < manifest.shards.size(); ++s) {
    const std::string& name = manifest.shards[s].name;
    const bool plain = !name.empty() && name[0] != '.' && name.find_first_of("/\\") == std::string::npos;
    if (plain && set.shards.emplace(name, s).second) continue;
    return error(Code::kCorrupt, set.path, ": line ", s + 2, ": the shard ", printable(name),
                 plain ? " is listed twice" : " is not the name of a file in this directory");
  }
  const Format* const format = find_format(manifest.format);
  const auto foreign =
      std::find_if(manifest.shards.begin(), manifest.shards.end(), [&](const ManifestShard& shard) {
        return format != nullptr && format->is_member != nullptr &&
               !format->is_member(split(set.path).directory, shard.name, context_);
      });
  if (foreign != manifest.shards.end()) {
    Status wrong = error(Code::kCorrupt, set.path, ": line 1: the format is ", manifest.format,
                         ", but the shard ", printable(foreign->name), " is not a file of it");
    set.manifest = std::move(manifest);
    return wrong;
  }
  const int64_t behind = manifest.bytes_behind;
  set.manifest = std::move(manifest);
  if (behind == 0) return Status::ok();
  return error(Code::kCorrupt, set.path, ": ", behind, " bytes from offset ",
               static_cast<int64_t>(text.size()) - behind, " follow its last line");
}

SetChecks::Set& SetChecks::set_of(const std::string& directory) {
  const auto [at, added] = sets_.try_emplace(directory);
  Set& set = at->second;
  if (!added) return set;
  set.path = directory + kManifestName;
  if (Status status = load(set); !status.is_ok()) findings_.push_back(std::move(status));
  return set;
}

void SetChecks::take_directory(const std::string& directory, std::string_view format,
                               std::vector<std::string>& files) {
  const std::string with_slash = split(join_path(directory, "")).directory;
  const Set& set = set_of(with_slash);
  if (!set.manifest || set.manifest->format != format) return;
  if (Status status = check_sums(set.path, *set.manifest); !status.is_ok())
    findings_.push_back(std::move(status));
  for (const ManifestShard& shard : set.manifest->shards) {
    const std::string path = join_path(directory, shard.name);
    const auto at = std::lower_bound(files.begin(), files.end(), path, natural_less);
    if (at == files.end() || *at != path) files.insert(at, path);
  }
}

std::string SetChecks::path_in_set(const std::string& path) {
  if (set_of(split(path).directory).there || storage_of(path, context_.storages) != nullptr) return path;
  Result<std::string> absolute = absolute_path(path);
  return absolute.is_ok() ? absolute.take() : path;
}

FileCheck SetChecks::compare(const std::string& path, std::string_view format) {
  const SplitPath parts = split(path_in_set(path));
  const Set& set = set_of(parts.directory);
  FileCheck out;
  if (!set.manifest) return out;
  const auto at = set.shards.find(parts.name);
  if (at == set.shards.end()) {
    if (set.manifest->format == format)
      findings_.push_back(error(Code::kCorrupt, path, ": ", kManifestName, " next to it does not list it"));
    return out;
  }
  const ManifestShard& shard = set.manifest->shards[at->second];
  if (format != "tokens" && format == set.manifest->format) out.samples = shard.samples;
  out.bytes = shard.bytes;
  out.status = check_bytes(path, shard, out);
  return out;
}

Status SetChecks::check_bytes(const std::string& path, const ManifestShard& shard, FileCheck& out) const {
  OpenContext context = context_;
  context.io = IoMode::kPread;  // a file that is cut meanwhile gives an error, and no signal
  Result<MappedFile> opened = MappedFile::open_unloaded(path, context);
  if (!opened.is_ok()) {
    if (opened.status().code() != Code::kNotFound) return opened.take_status();
    return error(Code::kNotFound, path, ": is missing, but ", kManifestName, " lists it",
                 samples_text(shard.samples));
  }
  const MappedFile& file = opened.value();
  if (file.bytes() < shard.bytes) {
    out.cut = true;
    return error(Code::kTruncated, path, ": has ", file.bytes(), " bytes, ", kManifestName, " states ",
                 shard.bytes, samples_text(shard.samples));
  }
  const Crc32c checksum(best_simd_target());
  std::vector<std::byte> piece(static_cast<size_t>(std::min(kPieceBytes, shard.bytes)));
  uint32_t crc = 0;
  context_.progress->expect_bytes(shard.bytes);
  for (int64_t at = 0; at < shard.bytes;) {
    if (context_.cancelled())
      return error(Code::kCancelled, path, ": cancelled while its bytes were compared with their checksum");
    const int64_t bytes = std::min(kPieceBytes, shard.bytes - at);
    DL_RETURN_IF_ERROR(file.read(at, bytes, piece.data()));
    crc = checksum.extend(crc, piece.data(), bytes);
    at += bytes;
    context_.progress->add_bytes(bytes);
    context_.report("comparing checksums of ", path);
  }
  if (crc != shard.crc32c) {
    return error(Code::kCorrupt, path, ": its CRC-32C is ", checksum_text(crc), ", ", kManifestName,
                 " states ", checksum_text(shard.crc32c), ": restore it from a copy",
                 samples_text(shard.samples));
  }
  if (file.bytes() == shard.bytes) return Status::ok();
  out.appended = true;
  return error(Code::kCorrupt, path, ": ", file.bytes() - shard.bytes, " bytes from offset ", shard.bytes,
               " follow the ", shard.bytes, " that ", kManifestName, " states");
}

Status SetChecks::check_samples(const std::string& path, const FileCheck& check, int64_t samples) {
  if (check.samples < 0 || samples == check.samples) return Status::ok();
  return error(Code::kCorrupt, path, ": has ", samples, " samples, ", kManifestName, " states ",
               check.samples);
}

}  // namespace dataline
