// The directory of the option `cache`: what all caches in it may take together, and which of them go when it is full.
//
//   DIR/lock            held by whoever counts, reserves or removes, for as long as that takes
//   DIR/KEY/index       of one cache (sample_store.h); whoever uses it holds a shared lock of it
//   DIR/KEY/N.samples   what one writer after another has appended; the writer holds its lock
//
// A file's length is what is reserved for it, so that the sum of lengths is the whole account: nothing else has to be kept in
// step with it, whoever is killed when.
//
// Threads: immutable; every function may be called from several at once, and from several processes.
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
  // Makes the directory, not its parents. `budget_bytes` < 0: a tenth of its file system stays free.
  static Result<CacheDirectory> open(std::string path, int64_t budget_bytes);

  std::string path_of(const std::string& key) const { return path_ + "/" + key; }
  // Waits for whoever counts now. Closed at the end of what needs it.
  Result<LockedFile> lock() const;
  // Whether `bytes` more fit, once the caches that nobody uses, but that of `key`, have gone for them: those used longest ago
  // first. Under the lock.
  Result<bool> make_room(int64_t bytes, const std::string& key) const;

 private:
  CacheDirectory(std::string path, int64_t budget_bytes)
      : path_(std::move(path)), budget_bytes_(budget_bytes) {}
  Result<bool> fits(int64_t bytes) const;

  std::string path_;
  int64_t budget_bytes_;
};

}  // namespace dataline
