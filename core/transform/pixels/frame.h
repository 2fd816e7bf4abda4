// An image on its way through the operators: its size, its layout, and the scratch memory of the worker that holds it.
//
// Threads: externally synchronized; each worker has its own scratch.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/base/status.h"
#include "core/base/text.h"

namespace dataline {

// Maximum side an operator may ask for; products of sides stay far below overflow.
constexpr int64_t kMaxSide = int64_t{1} << 24;

// Pillow's NEAREST, BILINEAR, BICUBIC, BOX and LANCZOS.
enum class Filter : int32_t { kNearest, kBilinear, kBicubic, kArea, kLanczos };

// HWC or CHW.
enum class ImageLayout { kInterleaved, kPlanar };

// A tensor that is an image.
struct ImageShape {
  ImageLayout layout = ImageLayout::kInterleaved;
  int64_t channels = 1;
  int64_t height = 0;
  int64_t width = 0;

  int64_t pixels() const { return height * width; }
};

// A rectangle of an image.
struct ImageRegion {
  int64_t top = 0, left = 0;
  int64_t height = 0, width = 0;
};

// Pixels interleaved (HWC), lines packed, no padding.
struct Frame {
  std::byte* pixels = nullptr;
  int64_t height = 0;
  int64_t width = 0;
  int64_t channels = 3;
  int64_t element_bytes = 1;  // 2: u16 from decode(mode=unchanged), accepted by crops and flips only

  int64_t line_bytes() const { return width * channels * element_bytes; }
  int64_t bytes() const { return height * line_bytes(); }
};

// A height and a width that are known only with the record, or with the batch.
struct RowExtent {
  int64_t height = 0;
  int64_t width = 0;
};

// What is known about a frame when the transform is compiled.
struct FrameShape {
  static constexpr int64_t kVaries = -1;  // differs from record to record
  int64_t height = kVaries;
  int64_t width = kVaries;
  int64_t channels = 3;
  bool of_bucket = false;  // it varies, and is the size of the batch's bucket

  bool fixed() const { return height != kVaries && width != kVaries; }
};

// A bump allocator for one row's frames, lines and tables; reset as a whole before the next row.
// Its size is fixed at create (max_decoded_bytes). Pages are touched only as far as an image needs them.
class FrameScratch {
 public:
  static constexpr int64_t kAlignment = 64;

  FrameScratch() = default;
  FrameScratch(std::byte* memory, int64_t bytes) : memory_(memory), bytes_(bytes) {}

  // 64-byte aligned, not cleared. Null when the scratch is full: the caller then fails with too_large().
  std::byte* take(int64_t bytes) {
    if (bytes < 0 || bytes > bytes_ - used_) return nullptr;
    std::byte* at = memory_ + used_;
    used_ += (bytes + kAlignment - 1) / kAlignment * kAlignment;
    if (used_ > bytes_) used_ = bytes_;
    return at;
  }
  // The same for all pixels of a frame whose size is set.
  Status take_pixels(Frame& frame) {
    frame.pixels = take(frame.bytes());
    return frame.pixels != nullptr ? Status::ok() : too_large(frame.height, frame.width, frame.bytes());
  }
  // A stage that needs memory only while it runs marks before and releases after.
  int64_t mark() const { return used_; }
  void release(int64_t mark) { used_ = mark; }
  void reset() { used_ = 0; }

  // kTooLarge: "image of 9000 wide, 9000 high needs 243000000 bytes more, max_decoded_bytes is 67108864, ...".
  Status too_large(int64_t height, int64_t width, int64_t bytes) const {
    return error(Code::kTooLarge, "image of ", picture_size(height, width), " needs ", bytes,
                 " bytes more, max_decoded_bytes is ", bytes_, ", of which ", bytes_ - used_,
                 " are left; raise max_decoded_bytes");
  }

 private:
  std::byte* memory_ = nullptr;
  int64_t bytes_ = 0;
  int64_t used_ = 0;
};

}  // namespace dataline
