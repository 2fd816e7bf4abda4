// The directory of the option `cache`: how many bytes its caches use, and which of them are removed when it is full.
//
//   DIR/lock            locked by the process that counts, reserves or removes
//   DIR/KEY/index       of one cache (store_layout.h); each user holds a shared lock
//   DIR/KEY/N.samples   appended to by one writer after another, which holds the lock
//
// The directory may hold anything else. A cache is a directory, not a link, whose name is a key and whose index begins with the
// magic and that key. Only its `index` and `N.samples` count and are removed; other files stay, and with them the directory.
//
// A file's length is what is reserved for it, so the sum of lengths is the complete account, also after a kill.
//
// Threads: immutable; every function may be called from several threads and several processes at once.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "core/base/status.h"
#include "core/memory/locked_file.h"

namespace dataline {

constexpr char kCacheIndexName[] = "index";

class CacheDirectory {
 public:
  // kMake: makes the directory, not its parents. `budget_bytes` < 0: a tenth of its file system stays free.
  static Result<CacheDirectory> open(const std::string& path, int64_t budget_bytes, WhenMissing when);

  std::string path_of(const std::string& key) const { return directory_.path_of(key); }
  // The directory of one cache. kNotAFile: a link has its name.
  Result<SharedDirectory> cache(const std::string& key, WhenMissing when) const {
    return directory_.subdirectory(key, when);
  }
  // Waits for other processes that count now. Unlocks when it is destroyed.
  Result<LockedFile> lock() const;
  // Whether `bytes` more fit, once the caches that nobody uses, except that of `key`, have been removed for them, the least
  // recently used first. Under the lock.
  Result<bool> make_room(int64_t bytes, const std::string& key) const;

 private:
  CacheDirectory(SharedDirectory directory, int64_t budget_bytes)
      : directory_(std::move(directory)), budget_bytes_(budget_bytes) {}
  Result<bool> fits(int64_t bytes) const;

  SharedDirectory directory_;
  int64_t budget_bytes_;
};

}  // namespace dataline
