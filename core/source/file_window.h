// Reads the headers of a file's members one after another, through a buffer that grows while they are close together.
// Threads: externally synchronized. Lifetime: the file outlives the window.
// Cost: one pread of 2 to 64 KiB per stretch of headers; what lies between distant ones is not touched.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/base/status.h"
#include "core/memory/mapped_file.h"

namespace dataline {

class FileWindow {
 public:
  explicit FileWindow(const MappedFile& file) : file_(file) {}
  // The caller has checked that the bytes are in the file. Valid until the next call.
  Result<const std::byte*> at(int64_t offset, int64_t bytes);

 private:
  static constexpr int64_t kMinBytes = 2 << 10, kMaxBytes = 64 << 10;

  const MappedFile& file_;
  std::vector<std::byte> buffer_;
  int64_t begin_ = 0, end_ = 0;  // the part of the file in the buffer
  int64_t window_bytes_ = kMinBytes;
};

}  // namespace dataline
