// A file that processes share: locked as long as it is open, read and written at any place. And a directory of such files.
//
// Others may write to the directory. So no link is followed, neither a symbolic one nor a second name (hard link) of a file that
// lies elsewhere: what is written, cut or removed is the directory's own.
//
// Threads: immutable after open; every function may be called from several threads at once, on disjoint ranges.
// Processes: the lock goes with its holder, also with one that is killed. A forked child holds it along with its parent.
// Failure: file.h's codes with the path; kUnsupported: the file system has no locks.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/bytes.h"
#include "core/base/status.h"
#include "core/memory/file.h"

namespace dataline {

enum class LockKind : int32_t { kShared, kAlone };
enum class WhenLocked : int32_t { kWait, kGiveUp };

enum class WhenMissing : int32_t { kMake, kFail };

class LockedFile {
 public:
  const std::string& path() const { return path_; }
  Status write_at(int64_t offset, Bytes bytes) const;
  ReadResult read_at(int64_t offset, int64_t bytes, std::byte* out) const {
    return dataline::read_at(descriptor_.get(), offset, bytes, out);
  }
  Result<int64_t> bytes() const {
    DL_ASSIGN_OR_RETURN(const FileFacts facts, facts_of(descriptor_.get(), path_));
    return facts.bytes;
  }
  // Cuts it, or lengthens it by zeros, which take no room on most file systems.
  Status set_bytes(int64_t bytes) const;
  Status touch() const;  // its time of change is now

 private:
  friend class SharedDirectory;
  LockedFile(std::string path, Descriptor descriptor)
      : path_(std::move(path)), descriptor_(std::move(descriptor)) {}

  std::string path_;
  Descriptor descriptor_;  // holds the lock
};

class SharedDirectory {
 public:
  // The path may lead through links. kMake: its parent exists.
  static Result<SharedDirectory> open(const std::string& path, WhenMissing when);

  const std::string& path() const { return path_; }  // absolute
  std::string path_of(const std::string& name) const { return path_ + "/" + name; }
  // A directory in it, which must not be a link.
  Result<SharedDirectory> subdirectory(const std::string& name, WhenMissing when) const;

  // kGiveUp: nullopt where others hold a lock that excludes this one. kNotAFile: a link, or no file.
  Result<std::optional<LockedFile>> open_file(const std::string& name, LockKind kind, WhenLocked when,
                                              WhenMissing missing = WhenMissing::kMake) const;
  // To read it only, where it may not be written: with a shared lock where the file system has locks.
  Result<LockedFile> open_to_read(const std::string& name) const;
  // Without a lock. See errno.
  Descriptor open_without_lock(const std::string& name) const;
  Result<FileFacts> facts(const std::string& name) const;  // a link is neither a file nor a directory
  Result<std::vector<std::string>> names() const;
  Status remove_file(const std::string& name) const;
  Status remove_directory(const std::string& name) const;  // an empty one

 private:
  SharedDirectory(std::string path, Descriptor descriptor)
      : path_(std::move(path)), descriptor_(std::move(descriptor)) {}

  std::string path_;
  Descriptor descriptor_;  // Windows: none, paths are used
};

Result<std::string> absolute_path(const std::string& path);  // the path must exist; resolves links

struct DiskSpace {
  int64_t bytes = 0, free_bytes = 0;  // of its file system; free: for this user
};
Result<DiskSpace> disk_space(const std::string& path);

}  // namespace dataline
