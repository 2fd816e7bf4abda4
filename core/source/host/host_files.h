// The files that a reader of the host's states as the source of its records, for identity.h: files of this machine, and objects
// of storages that the options know.
//
// Facts are those at open, so that samples which were read from a file are never kept as those of a later one in its place.
// Threads: immutable after open. An object is read by the thread that asks for its ends.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/status.h"
#include "core/memory/mapped_file.h"
#include "core/source/host/host.h"
#include "core/source/identity.h"

namespace dataline {

class HostFiles final : public DataFiles {
 public:
  // kInvalidArgument unless the ends rise to `record_count`, before anything is opened; then the error of the first path that
  // cannot be found or opened. Null for no paths.
  static Result<std::shared_ptr<const HostFiles>> open(ReaderFiles files, int64_t record_count,
                                                       const OpenContext& context);

  int64_t count() const override { return static_cast<int64_t>(files_.size()); }
  std::string path(int64_t index) const override { return at(index).path; }
  std::string name(int64_t index) const override;
  int64_t bytes(int64_t index) const override { return at(index).facts.bytes; }
  // kChanged: another file is there, or it was written since open.
  Result<Bytes> read_end(int64_t index, bool last, std::vector<std::byte>& room) const override;
  Result<FileFacts> facts(int64_t index) const override { return at(index).facts; }
  std::optional<std::string> fingerprint(int64_t index) const override;

  // Source::stamp() of a record.
  std::optional<uint64_t> stamp(int64_t record) const;

 private:
  struct File {
    std::string path;
    FileFacts facts = {};
    std::optional<uint64_t> stamp = {};
    std::unique_ptr<const MappedFile> object = {};  // in a storage; null: a local file
  };
  const File& at(int64_t index) const { return files_[static_cast<size_t>(index)]; }

  std::vector<File> files_;
  std::vector<int64_t> ends_;
  std::optional<uint64_t> stamp_of_all_;
};

}  // namespace dataline
