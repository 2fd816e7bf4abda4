// checksums=files: before a file of a set is opened, its bytes are compared with the CRC-32C that the manifest beside it states
// (set_manifest.h), and a directory's files with those that its manifest lists.
//
// Threads: one at a time.
// Cost: each byte is read once, at the speed of the disk or of crc32c.h.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/memory/mapped_file.h"
#include "core/source/set_manifest.h"

namespace dataline {

// What is known of a file by the manifest that lists it.
struct FileCheck {
  Status status;  // ok: it is what is stated, or nothing is stated of it
  int64_t samples =
      -1;  // as stated; -1: not listed, of another format, or of tokens: the URI says how many make a sample
  int64_t bytes = -1;     // as stated
  bool cut = false;       // shorter than stated
  bool appended = false;  // longer, and the stated bytes are right: those behind them are not the set's
};

class SetChecks {
 public:
  explicit SetChecks(const OpenContext& context) : context_(context) {}

  // The files of format `format` in a directory: adds those that its manifest lists and that are missing, in natural order, and
  // looks whether the set is finished.
  void take_directory(const std::string& directory, std::string_view format, std::vector<std::string>& files);
  // By the manifest beside the path, or else beside the file that it leads to through links. kNotFound, kTruncated and kCorrupt name the file, what differs and the samples that it should have; kCancelled, and what a read
  // fails with.
  FileCheck compare(const std::string& path, std::string_view format);
  // Of a file that is what was stated, or its first bytes are: whether it holds as many samples.
  static Status check_samples(const std::string& path, const FileCheck& check, int64_t samples);
  // What was found since the last call about sets, not about the files that they list.
  std::vector<Status> take_findings() { return std::exchange(findings_, {}); }

 private:
  struct Set {
    std::string path;                                   // of the manifest
    bool there = false;                                 // something has its name
    std::optional<Manifest> manifest;                   // nothing: there is none, or it cannot be read
    std::map<std::string, size_t, std::less<>> shards;  // by name
  };
  Set& set_of(const std::string& directory);
  // The path as given, or the one that it leads to through links: that beside which there is a manifest.
  std::string path_in_set(const std::string& path);
  Status load(Set& set) const;
  Status check_bytes(const std::string& path, const ManifestShard& shard, FileCheck& out) const;

  const OpenContext& context_;
  std::map<std::string, Set> sets_;  // by directory
  std::vector<Status> findings_;
};

}  // namespace dataline
