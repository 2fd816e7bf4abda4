// An image on its way through the operators, and the memory that a worker has for it.
//
// Threads: externally synchronized; each worker has its own.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/base/status.h"

namespace dataline {

constexpr int64_t kMostSide = int64_t{1}
                              << 24;  // that an operator makes; keeps products of sides far from overflow

// Pixels interleaved (HWC), lines packed, no padding.
struct Frame {
  std::byte* pixels = nullptr;
  int64_t height = 0;
  int64_t width = 0;
  int64_t channels = 3;
  int64_t element_bytes = 1;  // 2: u16 of decode(mode=unchanged), which only crops and flips take

  int64_t line_bytes() const { return width * channels * element_bytes; }
  int64_t bytes() const { return height * line_bytes(); }
};

// What is known of a frame when the transform is compiled.
struct FrameShape {
  static constexpr int64_t kVaries = -1;  // differs from record to record
  int64_t height = kVaries;
  int64_t width = kVaries;
  int64_t channels = 3;

  bool fixed() const { return height != kVaries && width != kVaries; }
};

// Memory of one row's frames, lines and tables: handed out in order, taken back as a whole when the next row begins.
// Fixed at create (max_decoded_bytes); pages are touched only as far as an image needs them.
class FrameScratch {
 public:
  static constexpr int64_t kAlignment = 64;

  FrameScratch() = default;
  FrameScratch(std::byte* memory, int64_t bytes) : memory_(memory), bytes_(bytes) {}

  // 64-byte aligned, not cleared; null when the row has no room left: too_large() is the error then.
  std::byte* take(int64_t bytes) {
    if (bytes < 0 || bytes > bytes_ - used_) return nullptr;
    std::byte* at = memory_ + used_;
    used_ += (bytes + kAlignment - 1) / kAlignment * kAlignment;
    if (used_ > bytes_) used_ = bytes_;
    return at;
  }
  // A stage that needs memory only while it runs marks before and releases after.
  int64_t mark() const { return used_; }
  void release(int64_t mark) { used_ = mark; }
  void reset() { used_ = 0; }

  // kTooLarge: "image of 9000x9000 needs 243000000 bytes more, max_decoded_bytes is 67108864".
  Status too_large(int64_t height, int64_t width, int64_t bytes) const;

 private:
  std::byte* memory_ = nullptr;
  int64_t bytes_ = 0;
  int64_t used_ = 0;
};

}  // namespace dataline
