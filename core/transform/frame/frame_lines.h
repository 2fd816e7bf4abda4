// Whole frames in memory at either end of a resampler: their lines as a source, and as a sink.
//
// Threads: externally synchronized; made anew for each row.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/transform/decode/decoder.h"
#include "core/transform/frame/frame.h"
#include "core/transform/frame/lines.h"

namespace dataline {

// Lines of a rectangle of pixels that lie in memory. None of them is ever gone.
class FrameSource : public LineSource {
 public:
  // `most_lines`: as ImageDecoder::start(). The pixels are borrowed. Room for the pointers comes from `scratch`.
  Status start(const Frame& frame, const ImageRegion& region, int64_t most_lines, FrameScratch& scratch) {
    const int64_t bytes = most_lines * static_cast<int64_t>(sizeof(std::byte*));
    pointers_ = reinterpret_cast<const std::byte**>(scratch.take(bytes));
    if (pointers_ == nullptr) return scratch.too_large(frame.height, frame.width, bytes);
    line_bytes_ = frame.line_bytes();
    first_ = frame.pixels + region.top * line_bytes_ + region.left * frame.channels * frame.element_bytes;
    return Status::ok();
  }
  const std::byte* const* lines(int64_t first, int64_t count) override {
    for (int64_t i = 0; i < count; ++i) pointers_[i] = first_ + (first + i) * line_bytes_;
    return pointers_;
  }
  const Status& status() const override { return status_; }

 private:
  const std::byte** pointers_ = nullptr;
  const std::byte* first_ = nullptr;
  int64_t line_bytes_ = 0;
  Status status_;
};

// Lines that make up a frame, whose pixels have room for them.
class FrameSink : public LineSink {
 public:
  explicit FrameSink(const Frame& frame) : pixels_(frame.pixels), line_bytes_(frame.line_bytes()) {}
  std::byte* line(int64_t y) override { return pixels_ + y * line_bytes_; }
  void done(int64_t) override {}

 private:
  std::byte* pixels_;
  int64_t line_bytes_;
};

}  // namespace dataline
