// A file that processes share: made where it is not there, locked as long as it is open, read and written at any place. And what
// else a directory of such files needs.
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

#include "core/base/bytes.h"
#include "core/base/status.h"
#include "core/memory/file.h"

namespace dataline {

enum class LockKind : int32_t { kShared, kAlone };
enum class WhenLocked : int32_t { kWait, kGiveUp };

class LockedFile {
 public:
  // kGiveUp: nullopt where others hold a lock that this one does not go with.
  static Result<std::optional<LockedFile>> open(const std::string& path, LockKind kind, WhenLocked when);
  // What is there and may perhaps not be written, to read it only: with a shared lock where the file system gives one.
  static Result<LockedFile> open_to_read(const std::string& path);

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
  LockedFile(std::string path, Descriptor descriptor)
      : path_(std::move(path)), descriptor_(std::move(descriptor)) {}

  std::string path_;
  Descriptor descriptor_;  // holds the lock
};

Status make_directory(const std::string& path);  // ok where it is there already; its parent has to be
Result<std::string> absolute_path(
    const std::string& path);  // of what is there; a later chdir changes nothing
Status remove_file(const std::string& path);
Status remove_directory(const std::string& path);  // an empty one

struct DiskSpace {
  int64_t bytes = 0, free_bytes = 0;  // of its file system; free: for this user
};
Result<DiskSpace> disk_space(const std::string& path);

}  // namespace dataline
