// SPDX-License-Identifier: Apache-2.0
#include "core/loader/cache/cache_directory.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "core/memory/directory_listing.h"

namespace dataline {
namespace {

Result<std::vector<std::string>> names_in(const std::string& path) {
  DL_ASSIGN_OR_RETURN(DirectoryListing listing, DirectoryListing::open(path));
  std::vector<std::string> names;
  for (DirectoryEntry entry; listing.next(entry);) names.push_back(entry.name);
  if (listing.failure() != 0) return file_error(path, listing.failure());
  return names;
}

struct FoundCache {
  std::string path;
  int64_t bytes = 0;
  int64_t used_ns = 0;  // when it was opened last
};

// The caches of a directory: whatever else lies in it is nobody's here, neither counted nor removed.
Result<std::vector<FoundCache>> find_caches(const std::string& directory) {
  std::vector<FoundCache> found;
  DL_ASSIGN_OR_RETURN(const std::vector<std::string> names, names_in(directory));
  for (const std::string& name : names) {
    FoundCache cache{.path = directory + "/" + name};
    FileFacts facts;
    if (facts_of_path(cache.path + "/" + kCacheIndexName, facts) != 0 || !facts.is_file) continue;
    cache.used_ns = facts.changed_ns;
    DL_ASSIGN_OR_RETURN(const std::vector<std::string> files, names_in(cache.path));
    for (const std::string& file : files) {
      if (facts_of_path(cache.path + "/" + file, facts) == 0) cache.bytes += facts.bytes;
    }
    found.push_back(std::move(cache));
  }
  return found;
}

// False where somebody uses it. The index goes last: without it nothing here is a cache any more.
Result<bool> remove_cache(const std::string& path) {
  const std::string index = path + "/" + kCacheIndexName;
  DL_ASSIGN_OR_RETURN(const std::optional<LockedFile> lock,
                      LockedFile::open(index, LockKind::kAlone, WhenLocked::kGiveUp));
  if (!lock) return false;
  DL_ASSIGN_OR_RETURN(const std::vector<std::string> files, names_in(path));
  for (const std::string& file : files) {
    if (file != kCacheIndexName) DL_RETURN_IF_ERROR(remove_file(path + "/" + file));
  }
  DL_RETURN_IF_ERROR(remove_file(index));
  DL_RETURN_IF_ERROR(remove_directory(path));
  return true;
}

}  // namespace

Result<CacheDirectory> CacheDirectory::open(std::string path, int64_t budget_bytes) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  DL_RETURN_IF_ERROR(make_directory(path));
  DL_ASSIGN_OR_RETURN(std::string absolute, absolute_path(path));
  return CacheDirectory(std::move(absolute), budget_bytes);
}

Result<LockedFile> CacheDirectory::lock() const {
  DL_ASSIGN_OR_RETURN(std::optional<LockedFile> lock,
                      LockedFile::open(path_of("lock"), LockKind::kAlone, WhenLocked::kWait));
  return std::move(*lock);
}

Result<bool> CacheDirectory::fits(int64_t bytes) const {
  if (budget_bytes_ < 0) {
    DL_ASSIGN_OR_RETURN(const DiskSpace disk, disk_space(path_));
    return disk.free_bytes - bytes >= disk.bytes / 10;
  }
  DL_ASSIGN_OR_RETURN(const std::vector<FoundCache> caches, find_caches(path_));
  int64_t held = 0;
  for (const FoundCache& cache : caches) held += cache.bytes;
  return bytes <= budget_bytes_ - held;
}

Result<bool> CacheDirectory::make_room(int64_t bytes, const std::string& key) const {
  DL_ASSIGN_OR_RETURN(bool fit, fits(bytes));
  if (fit) return true;
  DL_ASSIGN_OR_RETURN(std::vector<FoundCache> caches, find_caches(path_));
  std::erase_if(caches, [&](const FoundCache& cache) { return cache.path == path_of(key); });
  std::sort(caches.begin(), caches.end(),
            [](const FoundCache& a, const FoundCache& b) { return a.used_ns < b.used_ns; });
  for (const FoundCache& cache : caches) {
    DL_ASSIGN_OR_RETURN(const bool gone, remove_cache(cache.path));
    if (!gone) continue;
    DL_ASSIGN_OR_RETURN(fit, fits(bytes));
    if (fit) return true;
  }
  return false;
}

}  // namespace dataline
