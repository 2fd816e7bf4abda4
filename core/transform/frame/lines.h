// Lines of an image, handed from a decoder to a resampler and on to whatever takes the result, so that a whole image
// need never lie in memory: what is being worked on stays in the first caches.
//
// Threads: externally synchronized.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/base/status.h"

namespace dataline {

// Lines of a rectangle of an image, top to bottom. A line's pointer stands at the rectangle's left column.
class LineSource {
 public:
  virtual ~LineSource() = default;
  // Pointers to lines [first, first + count) of the rectangle; `first` never decreases, and lines before it may be gone.
  // count is at most what the source was started with. Null when the source failed: status() says why.
  // A line's bytes may be read; none beside them.
  virtual const std::byte* const* lines(int64_t first, int64_t count) = 0;
  virtual const Status& status() const = 0;
};

// Takes finished lines: the caller asks where line y goes, writes all of it, and says so. Each line once, in any order.
class LineSink {
 public:
  virtual ~LineSink() = default;
  virtual std::byte* line(int64_t y) = 0;  // room for width * channels * element_bytes
  virtual void done(int64_t y) = 0;
};

}  // namespace dataline
