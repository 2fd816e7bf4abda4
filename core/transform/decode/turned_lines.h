// A rectangle of an image turned by its Exif orientation: the stored rectangle is decoded whole, and each pixel is put
// where it belongs. Costs the rectangle's bytes of scratch; only turned images pay.
//
// Threads: externally synchronized.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "core/base/status.h"
#include "core/transform/decode/format_decoder.h"

namespace dataline {

class TurnedLines {
 public:
  // `region` is of the turned image. Decodes it all.
  Status start(FormatDecoder& decoder, const ImageHeader& header, const ImageRegion& region,
               FrameScratch& scratch);
  bool active() const { return lines_ != nullptr; }
  const std::byte* const* lines(int64_t first) const { return lines_ + first; }
  void clear() { lines_ = nullptr; }

 private:
  std::byte** lines_ = nullptr;
};

}  // namespace dataline
