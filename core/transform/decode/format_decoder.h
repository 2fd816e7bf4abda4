// The decoder of one format, behind ImageDecoder: pixels as stored, before any Exif orientation.
//
// Threads: externally synchronized; one per worker.
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
  virtual int64_t channels() const = 0;  // of the lines, in the requested mode
  virtual int64_t element_bytes() const = 0;
  virtual bool warned() const { return false; }  // as ImageDecoder's

  // `header` is that of `encoded` and within max_pixels.
  virtual Status open(Bytes encoded, const ImageHeader& header) = 0;
  // As ImageDecoder's; called once after each open().
  Status start(const ImageRegion& region, int64_t max_lines, FrameScratch& scratch) {
    status_ = begin(region, max_lines, scratch);
    return status_;
  }
  virtual void close() = 0;
  const Status& status() const final { return status_; }

 protected:
  virtual Status begin(const ImageRegion& region, int64_t max_lines, FrameScratch& scratch) = 0;

  Status status_;  // of the lines since start()
};

// Null if this build lacks the format's library.
std::unique_ptr<FormatDecoder> make_jpeg_decoder(const DecodeOptions& options);
std::unique_ptr<FormatDecoder> make_png_decoder(const DecodeOptions& options);
std::unique_ptr<FormatDecoder> make_webp_decoder(const DecodeOptions& options);

}  // namespace dataline
