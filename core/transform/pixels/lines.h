// Lines of an image, passed from a decoder to a resampler to the output a few at a time. A whole image is never held in
// memory, and the lines being worked on stay in the L1 and L2 caches.
//
// Threads: externally synchronized.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "core/base/status.h"
#include "core/transform/pixels/frame.h"

namespace dataline {

// Lines of a rectangle of an image, top to bottom. A line's pointer is at the rectangle's left column.
class LineSource {
 public:
  virtual ~LineSource() = default;
  // Pointers to lines [first, first + count) of the rectangle. `first` never decreases; earlier lines may be overwritten.
  // `count` is limited to what the source was started with. Null on failure: see status().
  // Only the line's own bytes may be read.
  virtual const std::byte* const* lines(int64_t first, int64_t count) = 0;
  virtual const Status& status() const = 0;
};

// Receives finished lines: the caller asks where line y goes, writes all of it, and calls done(y). Each line once, in any
// order.
class LineSink {
 public:
  virtual ~LineSink() = default;
  virtual std::byte* line(int64_t y) = 0;  // room for width * channels * element_bytes
  virtual void done(int64_t y) = 0;
};

// Lines of a rectangle of a frame in memory. All of them stay valid.
class FrameSource : public LineSource {
 public:
  // `max_lines`: maximum count of one lines() call. The pixels are borrowed; the pointer table comes from `scratch`.
  Status start(const Frame& frame, const ImageRegion& region, int64_t max_lines, FrameScratch& scratch) {
    const int64_t bytes = max_lines * static_cast<int64_t>(sizeof(std::byte*));
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

// Writes lines into a frame in memory.
class FrameSink : public LineSink {
 public:
  explicit FrameSink(const Frame& frame) : pixels_(frame.pixels), line_bytes_(frame.line_bytes()) {}
  std::byte* line(int64_t y) override { return pixels_ + y * line_bytes_; }
  void done(int64_t) override {}

 private:
  std::byte* pixels_;
  int64_t line_bytes_;
};

// Writes lines into the middle of a larger image, with zeros around them.
class BorderSink : public LineSink {
 public:
  // `sink` receives lines of `line_bytes`; the middle is `bytes` wide and begins at `top`
  // and, in each line, `left`.
  BorderSink(LineSink& sink, int64_t top, int64_t left, int64_t bytes, int64_t line_bytes)
      : sink_(sink), top_(top), left_(left), bytes_(bytes), line_bytes_(line_bytes) {}
  // Lines [first, first + count) of the larger image.
  void clear(int64_t first, int64_t count) {
    for (int64_t y = first; y < first + count; ++y) {
      std::memset(sink_.line(y), 0, static_cast<size_t>(line_bytes_));
      sink_.done(y);
    }
  }
  std::byte* line(int64_t y) override {
    line_ = sink_.line(top_ + y);
    return line_ + left_;
  }
  void done(int64_t y) override {
    std::memset(line_, 0, static_cast<size_t>(left_));
    std::memset(line_ + left_ + bytes_, 0, static_cast<size_t>(line_bytes_ - left_ - bytes_));
    sink_.done(top_ + y);
  }

 private:
  LineSink& sink_;
  const int64_t top_, left_, bytes_, line_bytes_;
  std::byte* line_ = nullptr;
};

}  // namespace dataline
