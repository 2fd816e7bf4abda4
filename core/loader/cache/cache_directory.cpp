// SPDX-License-Identifier: Apache-2.0
#include "core/loader/cache/cache_directory.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "core/loader/cache/store_layout.h"

namespace dataline {
namespace {

// Without its directory open: there may be more caches than descriptors.
struct FoundCache {
  std::string key;
  std::vector<std::string> segments;
  int64_t bytes = 0;    // of these and the index
  int64_t used_ns = 0;  // when it was opened last
};

// The first bytes of a regular file that has this name alone; nullopt for anything else.
std::optional<StoreHeader> header_of(const SharedDirectory& directory, const std::string& name,
                                     FileFacts& facts) {
  Result<FileFacts> found = directory.facts(name);
  if (!found.is_ok() || !found.value().is_file || found.value().names > 1) return std::nullopt;
  facts = found.value();
  const Descriptor file = directory.open_without_lock(name);
  StoreHeader header = {};
  if (!file || read_at(file.get(), 0, kStoreHeaderBytes, header.data()).number != 0) return std::nullopt;
  return header;
}

// What others have put under the name of a segment does not count, and is not removed. An empty file is a segment whose maker was
// killed; those of release 0.2 have no header.
void find_segments(const SharedDirectory& directory, FoundCache& cache, bool old) {
  const Result<std::vector<std::string>> names = directory.names();
  if (!names.is_ok()) return;
  for (const std::string& name : names.value()) {
    if (!is_segment_name(name)) continue;
    FileFacts facts;
    const std::optional<StoreHeader> header = header_of(directory, name, facts);
    const StoreHeader expected = store_header(kSegmentMagic, segment_number(name), cache.key);
    if (!header || !(old || facts.bytes == 0 || *header == expected)) continue;
    cache.segments.push_back(name);
    cache.bytes += facts.bytes;
  }
}

// What cannot be opened or listed is not counted: it is not removed either.
std::vector<FoundCache> find_caches(const SharedDirectory& parent, const std::vector<std::string>& names) {
  std::vector<FoundCache> found;
  for (const std::string& name : names) {
    if (!is_store_key(name)) continue;
    Result<SharedDirectory> directory = parent.subdirectory(name, WhenMissing::kFail);
    if (!directory.is_ok()) continue;
    FileFacts index;
    const std::optional<StoreHeader> header = header_of(directory.value(), kCacheIndexName, index);
    if (!header || !is_header_of(*header, name)) continue;
    FoundCache cache{name, {}, index.bytes, index.changed_ns};
    find_segments(directory.value(), cache, is_old_header(*header));
    found.push_back(std::move(cache));
  }
  return found;
}

// False where somebody uses it. The index goes last: without it this is not a cache any more.
Result<bool> remove_cache(const SharedDirectory& parent, const FoundCache& cache) {
  const Result<SharedDirectory> found = parent.subdirectory(cache.key, WhenMissing::kFail);
  if (!found.is_ok()) return false;
  const SharedDirectory& directory = found.value();
  DL_ASSIGN_OR_RETURN(
      const std::optional<LockedFile> lock,
      directory.open_file(kCacheIndexName, LockKind::kAlone, WhenLocked::kGiveUp, WhenMissing::kFail));
  if (!lock) return false;
  for (const std::string& segment : cache.segments) DL_RETURN_IF_ERROR(directory.remove_file(segment));
  DL_RETURN_IF_ERROR(directory.remove_file(kCacheIndexName));
  // Not empty where others have put files into it, which stay.
  static_cast<void>(parent.remove_directory(cache.key));
  return true;
}

}  // namespace

Result<CacheDirectory> CacheDirectory::open(const std::string& path, int64_t budget_bytes, WhenMissing when) {
  DL_ASSIGN_OR_RETURN(SharedDirectory directory, SharedDirectory::open(path, when));
  return CacheDirectory(std::move(directory), budget_bytes);
}

Result<LockedFile> CacheDirectory::lock() const {
  DL_ASSIGN_OR_RETURN(std::optional<LockedFile> lock,
                      directory_.open_file("lock", LockKind::kAlone, WhenLocked::kWait));
  return std::move(*lock);
}

Result<bool> CacheDirectory::fits(int64_t bytes) const {
  if (budget_bytes_ < 0) {
    DL_ASSIGN_OR_RETURN(const DiskSpace disk, disk_space(directory_.path()));
    return disk.free_bytes - bytes >= disk.bytes / 10;
  }
  DL_ASSIGN_OR_RETURN(const std::vector<std::string> names, directory_.names());
  int64_t held = 0;
  for (const FoundCache& cache : find_caches(directory_, names)) held += cache.bytes;
  return bytes <= budget_bytes_ - held;
}

Result<bool> CacheDirectory::make_room(int64_t bytes, const std::string& key) const {
  DL_ASSIGN_OR_RETURN(bool fit, fits(bytes));
  if (fit) return true;
  DL_ASSIGN_OR_RETURN(const std::vector<std::string> names, directory_.names());
  std::vector<FoundCache> caches = find_caches(directory_, names);
  std::erase_if(caches, [&](const FoundCache& cache) { return cache.key == key; });
  std::sort(caches.begin(), caches.end(),
            [](const FoundCache& a, const FoundCache& b) { return a.used_ns < b.used_ns; });
  for (const FoundCache& cache : caches) {
    DL_ASSIGN_OR_RETURN(const bool gone, remove_cache(directory_, cache));
    if (!gone) continue;
    DL_ASSIGN_OR_RETURN(fit, fits(bytes));
    if (fit) return true;
  }
  return false;
}

}  // namespace dataline
