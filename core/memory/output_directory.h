// A directory of files that comes into being whole: it is filled under the name PATH.partial, by one process at a time, and renamed to
// PATH at the end. What is in it already, from a process that was killed, is there to go on with.
//
// Threads: externally synchronized. Processes: the directory is locked until it is closed; a second one gets kWrongState.
// Failure: file.h's codes with the path. kWrongState: PATH exists already, or PATH.partial is no directory (a link to one is none), or
// another process fills it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/base/bytes.h"
#include "core/base/status.h"
#include "core/memory/file.h"

namespace dataline {

// A file that only grows, each append durable when it returns.
class AppendFile {
 public:
  // Makes the file, or cuts it to its first `keep` bytes. A link is an error, and is not followed.
  static Result<AppendFile> open(const std::string& path, int64_t keep);
  Status append(Bytes bytes);

 private:
  AppendFile(std::string path, Descriptor descriptor)
      : path_(std::move(path)), descriptor_(std::move(descriptor)) {}

  std::string path_;
  Descriptor descriptor_;
};

class OutputDirectory {
 public:
  // Makes PATH.partial, or takes the directory that is there; whether a writer made it, its content shows (core/write/resume.h).
  static Result<OutputDirectory> open(const std::string& path);

  // Where files are written until publish().
  std::string path_of(const std::string& name) const { return partial_ + "/" + name; }
  const std::string& path() const { return path_; }
  const std::string& partial() const { return partial_; }
  // The names in it; not that of the lock.
  Result<std::vector<std::string>> names() const;
  // What the entry of this name, which is there, is. kFile: a regular file of this name alone. kShared: one that has other names too
  // (hard links). kOther: a link to one, a directory.
  enum class Kind : uint8_t { kFile, kShared, kOther };
  Result<Kind> kind_of(const std::string& name) const;
  Status remove(const std::string& name) const;
  // Makes a new entry of the directory durable.
  Status sync() const;
  // Renames it to PATH, which must not exist.
  Status publish();

 private:
  OutputDirectory(std::string path, std::string partial)
      : path_(std::move(path)), partial_(std::move(partial)) {}

  std::string path_, partial_;
  Descriptor descriptor_;  // holds the lock
};

}  // namespace dataline
