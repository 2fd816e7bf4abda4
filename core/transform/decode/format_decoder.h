// What each format's decoder does for the one that callers see: pixels as stored, before any Exif orientation.
//
// Threads: externally synchronized; one a worker.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include "core/base/bytes.h"
#include "core/base/status.h"
#include "core/transform/decode/decoder.h"
#include "core/transform/decode/image_header.h"

namespace dataline {

class FormatDecoder : public LineSource {
 public:
  virtual int64_t channels() const = 0;  // of the lines, in the wanted mode
  virtual int64_t element_bytes() const = 0;
  virtual bool warned() const { return false; }  // as ImageDecoder's

  // `header` is that of `encoded`, its pixels are within max_pixels.
  virtual Status open(Bytes encoded, const ImageHeader& header) = 0;
  // As ImageDecoder's. Once after each open().
  virtual Status start(const ImageRegion& region, int64_t max_lines, FrameScratch& scratch) = 0;
  virtual void close() = 0;
};

// Null when this build lacks the format's library.
std::unique_ptr<FormatDecoder> make_jpeg_decoder(const DecodeOptions& options);
std::unique_ptr<FormatDecoder> make_png_decoder(const DecodeOptions& options);
std::unique_ptr<FormatDecoder> make_webp_decoder(const DecodeOptions& options);

}  // namespace dataline
