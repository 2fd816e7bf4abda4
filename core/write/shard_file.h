// One file of a set while it is written: buffered, counted, and summed up as it goes out. The file is there under its name when
// commit() returns, durably, and not before.
// Threads: externally synchronized.
// Failure: file.h's codes with the path; then the file cannot be committed.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/base/bytes.h"
#include "core/memory/atomic_file.h"
#include "core/source/tfrecord/crc32c.h"

namespace dataline {

class ShardFile {
 public:
  static Result<ShardFile> create(const std::string& path);

  Status write(Bytes bytes);
  Status zeros(int64_t count);
  // For a file whose first bytes are known at its end alone: room for them, before anything else, and the bytes, as many, after
  // everything else.
  Status reserve_start(int64_t bytes);
  Status write_start(Bytes bytes);
  Status commit();

  int64_t bytes() const { return bytes_; }  // written so far
  uint32_t crc32c() const { return crc_; }  // of them

 private:
  explicit ShardFile(AtomicFile file);
  Status flush();

  AtomicFile file_;
  Crc32c checksum_;
  std::vector<std::byte> buffer_;
  int64_t bytes_ = 0;
  uint32_t crc_ = 0;  // without what is reserved
  int64_t reserved_bytes_ = 0;
};

}  // namespace dataline
