// A file that is written completely or not at all: temporary file in the same directory, fsync, rename, fsync of the
// directory.
// Threads: externally synchronized. With two writers of one path the last commit wins; the results are never mixed.
// Failure: file.h's codes with the path; the temporary file is removed and the old file stays.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>

#include "core/base/bytes.h"
#include "core/base/status.h"
#include "core/memory/file.h"

namespace dataline {

class AtomicFile {
 public:
  // Creates the temporary file, so that a missing write permission fails before any work is done.
  static Result<AtomicFile> create(const std::string& path);
  AtomicFile(AtomicFile&&) noexcept = default;
  AtomicFile& operator=(AtomicFile&&) = delete;
  ~AtomicFile();

  Status write(Bytes bytes);
  // Over the first bytes that were written. No write() afterwards.
  Status rewrite_start(Bytes bytes);
  // A symbolic link at the path is replaced, not followed. No write() afterwards.
  Status commit();

 private:
  explicit AtomicFile(std::string path) : path_(std::move(path)) {}

  std::string path_;
  std::string temporary_;
  Descriptor descriptor_;  // none: committed, or moved from
};

}  // namespace dataline
