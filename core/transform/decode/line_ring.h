// A ring of the last lines of a rectangle that is decoded from top to bottom, indexed by line number.
//
// Threads: a value.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "core/base/checked.h"
#include "core/transform/pixels/frame.h"

namespace dataline {

class LineRing {
 public:
  // `lines` lines of `line_bytes`; a reader's line begins `skip_bytes` after the decoder's. False if the scratch is full.
  // The caller has checked max_pixels, so no product overflows.
  bool take(int64_t lines, int64_t line_bytes, int64_t skip_bytes, FrameScratch& scratch) {
    lines_ = lines;
    stride_ = round_up(line_bytes, FrameScratch::kAlignment);
    const int64_t stride = stride_;
    bytes_ = lines * stride + 4 * lines * static_cast<int64_t>(sizeof(std::byte*));
    std::byte* memory = scratch.take(lines * stride);
    write_ = reinterpret_cast<std::byte**>(scratch.take(
        4 * lines * static_cast<int64_t>(sizeof(std::byte*))));  // lines to write, then lines to read
    if (memory == nullptr || write_ == nullptr) return false;
    read_ = write_ + 2 * lines;
    for (int64_t i = 0; i < 2 * lines; ++i) {  // twice, so that any run of `lines` pointers is contiguous
      write_[i] = memory + i % lines * stride;
      read_[i] = write_[i] + skip_bytes;
    }
    return true;
  }
  int64_t line_stride() const { return stride_; }
  int64_t bytes() const { return bytes_; }  // requested from the scratch
  std::byte** write(int64_t line) const { return write_ + line % lines_; }
  const std::byte* const* read(int64_t line) const { return read_ + line % lines_; }

 private:
  int64_t lines_ = 0, stride_ = 0, bytes_ = 0;
  std::byte** write_ = nullptr;
  std::byte** read_ = nullptr;
};

}  // namespace dataline
