// An open directory and files opened relative to it, independent of the process's working directory and of renames of the
// directory.
//
// Threads: immutable after open; every function may be called from any thread, and in a forked child.
// Failure: file.h's codes and words, with the whole path. Files are opened with O_NONBLOCK and must be regular,
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
#include "core/memory/file.h"

namespace dataline {

constexpr size_t kMaxPathBytes = 4096;  // PATH_MAX, with its NUL

// Where symbolic links in a path may lead.
enum class Links {
  kFollow,  // anywhere
  kBeneath,  // not out of the directory, else kPermission. By openat2(RESOLVE_BENEATH), hence free of races; without it
             // (Linux before 5.6) no link is followed at all. Windows: by the final path of what was opened
};

// One regular file, open for reading.
class FileHandle {
 public:
  FileHandle(Descriptor descriptor, const FileFacts& facts)
      : descriptor_(std::move(descriptor)), facts_(facts) {}

  int64_t bytes() const { return facts_.bytes; }            // at open
  int64_t changed_ns() const { return facts_.changed_ns; }  // at open
  Result<FileFacts> facts(const std::string& path) const;   // now
  // Reads [offset, offset + bytes) into out. Returns the bytes read, fewer at the end of the file, or -errno.
  int64_t read(std::byte* out, int64_t bytes, int64_t offset = 0) const;
  // Starts asynchronous read-ahead of the whole file, in pieces of the device's read-ahead window.
  void advise(int64_t read_ahead_bytes) const;
  // Whether its first and last page are in the page cache; true where that is unknown.
  bool cached() const;

 private:
  Descriptor descriptor_;
  FileFacts facts_;
};

class OpenDirectory {
 public:
  // kNotFound for what is not a directory.
  static Result<OpenDirectory> open(const std::string& path);
  const std::string& path() const { return path_; }
  const FileFacts& facts() const { return facts_; }  // at open
  // Of its device.
  int64_t read_ahead_bytes() const { return dataline::read_ahead_bytes(facts_.device); }

  // `name` is relative, NUL-terminated, and below kMaxPathBytes.
  Result<FileHandle> open_file(const char* name, Links links) const;
  // "." is the directory itself.
  Result<Descriptor> open_subdirectory(const char* name) const;
  // stat of what `name` leads to.
  Result<FileFacts> look_at(const char* name, Links links) const;
  // The full path of a name, for messages; the middle of a long one is elided.
  std::string path_of(std::string_view name) const;

 private:
  explicit OpenDirectory(std::string path) : path_(std::move(path)) {}
  Descriptor open_beneath(const char* name, int flags) const;
  Descriptor open_without_links(const char* name, int flags) const;
  Result<Descriptor> open_any(const char* name, int flags, Links links) const;

  std::string path_;
  Descriptor descriptor_;
  FileFacts facts_;
  bool resolves_beneath_ = false;  // this system has open_beneath_at()
};

// Now, on the clock of changed_ns.
int64_t wall_clock_ns();

}  // namespace dataline
