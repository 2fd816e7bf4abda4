// An open directory and files opened relative to it, independent of the process's working directory and of renames of the
// directory.
//
// Threads: immutable after open; every function may be called from any thread, and in a forked child.
// Failure: file_error.h's codes and words, with the whole path. Files are opened with O_NONBLOCK and must be regular,
// so that a FIFO or a device never blocks. EINTR is retried.
// Cost: one descriptor for the directory, and one per FileHandle.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "core/base/status.h"
#include "core/memory/storage.h"

namespace dataline {

constexpr size_t kMaxPathBytes = 4096;  // PATH_MAX, with its NUL

// The result of stat for a file or directory.
struct FileFacts {
  bool is_file = false;  // a regular one
  bool is_directory = false;
  uint32_t mode = 0;
  int64_t bytes = 0;
  uint64_t device = 0;  // with inode: the identity of the file
  uint64_t inode = 0;
  int64_t changed_ns = 0;  // mtime, since 1970

  bool same_as(const FileFacts& other) const { return device == other.device && inode == other.inode; }
};

// Where symbolic links in a path may lead.
enum class Links {
  kFollow,  // anywhere
  kBeneath,  // not out of the directory, else kPermission. By openat2(RESOLVE_BENEATH), hence free of races; without it
             // (Linux before 5.6) no link is followed at all
};

// One regular file, open for reading.
class FileHandle {
 public:
  FileHandle(FileHandle&& other) noexcept
      : descriptor_(std::exchange(other.descriptor_, -1)),
        bytes_(other.bytes_),
        changed_ns_(other.changed_ns_) {}
  FileHandle& operator=(FileHandle&&) = delete;
  ~FileHandle();

  int64_t bytes() const { return bytes_; }                 // at open
  int64_t changed_ns() const { return changed_ns_; }       // at open
  Result<FileFacts> facts(const std::string& path) const;  // now
  // Reads [0, bytes) into out. Returns the bytes read, fewer at the end of the file, or -errno.
  int64_t read(std::byte* out, int64_t bytes) const;
  // Starts asynchronous read-ahead of the whole file, in pieces of the device's read-ahead window.
  void advise(int64_t read_ahead_bytes) const;
  // Whether its first and last page are in the page cache; true where that is unknown.
  bool cached() const;

 private:
  friend class OpenDirectory;
  explicit FileHandle(int descriptor) : descriptor_(descriptor) {}

  int descriptor_;
  int64_t bytes_ = 0;
  int64_t changed_ns_ = 0;
};

class OpenDirectory {
 public:
  // kNotFound for what is not a directory.
  static Result<OpenDirectory> open(const std::string& path);
  OpenDirectory(OpenDirectory&& other) noexcept
      : path_(std::move(other.path_)),
        descriptor_(std::exchange(other.descriptor_, -1)),
        facts_(other.facts_),
        resolves_beneath_(other.resolves_beneath_) {}
  OpenDirectory& operator=(OpenDirectory&&) = delete;
  ~OpenDirectory();

  const std::string& path() const { return path_; }
  const FileFacts& facts() const { return facts_; }  // at open
  // Of its device.
  int64_t read_ahead_bytes() const { return dataline::read_ahead_bytes(facts_.device); }

  // `name` is relative, NUL-terminated, and below kMaxPathBytes.
  Result<FileHandle> open_file(const char* name, Links links) const;
  // A descriptor of a subdirectory that the caller closes; "." is the directory itself.
  Result<int> open_subdirectory(const char* name) const;
  // stat of what `name` leads to.
  Result<FileFacts> look_at(const char* name, Links links) const;
  // The full path of a name, for messages; the middle of a long one is elided.
  std::string path_of(std::string_view name) const;

 private:
  explicit OpenDirectory(std::string path) : path_(std::move(path)) {}
  int open_beneath(const char* name, int flags) const;
  int open_without_links(const char* name, int flags) const;
  Result<int> open_any(const char* name, int flags, Links links) const;

  std::string path_;
  int descriptor_ = -1;
  FileFacts facts_;
  bool resolves_beneath_ = false;  // this kernel has openat2
};

// Now, on the clock of changed_ns.
int64_t wall_clock_ns();

// fstat of an open descriptor; errors name `path`.
Result<FileFacts> facts_of(int descriptor, const std::string& path);
// stat of the entry `name` of an open directory, following links; returns errno, or 0.
int facts_of_entry(int directory, const char* name, FileFacts& out);

}  // namespace dataline
