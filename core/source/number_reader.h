// Numbers of an array in a file, one after another, read a block at a time.
// Threads: externally synchronized.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/base/bytes.h"
#include "core/memory/mapped_file.h"

namespace dataline {

// `Word`: uint32_t or uint64_t, little-endian in the file unless `big`. Where the array lies in the file has been checked.
template <typename Word>
class NumberReader {
 public:
  NumberReader(const MappedFile& file, int64_t offset, int64_t count, bool big = false)
      : file_(file), offset_(offset), left_(count), big_(big) {}

  // Not after the last one.
  Result<Word> next() {
    if (at_ == block_.size()) DL_RETURN_IF_ERROR(fill());
    const std::byte* from = block_.data() + at_;
    at_ += sizeof(Word);
    return big_ ? load_big<Word>(from) : load_little<Word>(from);
  }

 private:
  static constexpr int64_t kBlockBytes = 64 << 10;
  static constexpr int64_t kWordBytes = sizeof(Word);

  Status fill() {
    const int64_t count = std::min(left_, kBlockBytes / kWordBytes);
    block_.resize(static_cast<size_t>(count * kWordBytes));
    at_ = 0;
    DL_RETURN_IF_ERROR(file_.read(offset_, count * kWordBytes, block_.data()));
    offset_ += count * kWordBytes;
    left_ -= count;
    return Status::ok();
  }

  const MappedFile& file_;
  int64_t offset_, left_;
  bool big_;
  std::vector<std::byte> block_;
  size_t at_ = 0;
};

}  // namespace dataline
