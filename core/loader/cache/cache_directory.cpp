// SPDX-License-Identifier: Apache-2.0
#include "core/loader/cache/cache_directory.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "core/loader/cache/store_layout.h"

namespace dataline {
namespace {

struct FoundCache {
  SharedDirectory directory;
  std::string key;
  int64_t bytes = 0;
  int64_t used_ns = 0;  // when it was opened last
};

bool is_file_of_cache(const std::string& name) { return name == kCacheIndexName || is_segment_name(name); }

bool is_cache(const SharedDirectory& directory, const std::string& key) {
  const Descriptor index = directory.open_without_lock(kCacheIndexName);
  StoreHeader header = {};
  return index && read_at(index.get(), 0, kStoreHeaderBytes, header.data()).bytes == kStoreHeaderBytes &&
         is_header_of(header, key);
}

// What cannot be opened or listed is not counted: it is not removed either.
std::vector<FoundCache> find_caches(const SharedDirectory& parent, const std::vector<std::string>& names) {
  std::vector<FoundCache> found;
  for (const std::string& name : names) {
    if (!is_store_key(name)) continue;
    Result<SharedDirectory> directory = parent.subdirectory(name, WhenMissing::kFail);
    if (!directory.is_ok() || !is_cache(directory.value(), name)) continue;
    const Result<std::vector<std::string>> files = directory.value().names();
    if (!files.is_ok()) continue;
    FoundCache cache{directory.take(), name};
    for (const std::string& file : files.value()) {
      if (!is_file_of_cache(file)) continue;
      const Result<FileFacts> facts = cache.directory.facts(file);
      if (!facts.is_ok() || !facts.value().is_file) continue;
      cache.bytes += facts.value().bytes;
      if (file == kCacheIndexName) cache.used_ns = facts.value().changed_ns;
    }
    found.push_back(std::move(cache));
  }
  return found;
}

// False where somebody uses it. The index goes last: without it this is not a cache any more.
Result<bool> remove_cache(const SharedDirectory& parent, const FoundCache& cache) {
  DL_ASSIGN_OR_RETURN(
      const std::optional<LockedFile> lock,
      cache.directory.open_file(kCacheIndexName, LockKind::kAlone, WhenLocked::kGiveUp, WhenMissing::kFail));
  if (!lock) return false;
  DL_ASSIGN_OR_RETURN(const std::vector<std::string> files, cache.directory.names());
  for (const std::string& file : files) {
    if (is_segment_name(file)) DL_RETURN_IF_ERROR(cache.directory.remove_file(file));
  }
  DL_RETURN_IF_ERROR(cache.directory.remove_file(kCacheIndexName));
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
