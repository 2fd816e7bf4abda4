// An image decoded as a caller would: opened, a region of it, lines pulled in small runs.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "core/transform/decode/decoder.h"

namespace dataline {

inline Bytes bytes_of(const std::string& text) {
  return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
}

struct Decoded {
  Status status;
  int64_t height = 0, width = 0, channels = 0, element_bytes = 0;
  std::vector<unsigned char> pixels;
  bool warned = false;
};

class TestDecoder {
 public:
  explicit TestDecoder(const DecodeOptions& options = {}, int64_t scratch_bytes = int64_t{64} << 20)
      : memory_(new std::byte[scratch_bytes]),
        scratch_(memory_.get(), scratch_bytes),
        decoder_(std::make_unique<ImageDecoder>(options)) {}
  ImageDecoder& decoder() { return *decoder_; }
  FrameScratch& scratch() { return scratch_; }

  // `at_once` lines a call; the height and width of `region` may be 0: all of it.
  Decoded decode(Bytes encoded, ImageRegion region = {}, int64_t at_once = 3) {
    scratch_.reset();
    Decoded out;
    out.status = decoder_->open(encoded);
    if (!out.status.is_ok()) return out;
    if (region.height == 0) region.height = decoder_->height();
    if (region.width == 0) region.width = decoder_->width();
    out.height = region.height;
    out.width = region.width;
    out.channels = decoder_->channels();
    out.element_bytes = decoder_->element_bytes();
    const int64_t most = std::min(at_once, region.height);
    out.status = decoder_->start(region, most, scratch_);
    const int64_t line_bytes = region.width * out.channels * out.element_bytes;
    for (int64_t y = 0; out.status.is_ok() && y < region.height; y += most) {
      const int64_t count = std::min(most, region.height - y);
      const std::byte* const* lines = decoder_->lines(y, count);
      if (lines == nullptr) {
        out.status = decoder_->status();
        EXPECT_FALSE(out.status.is_ok());
        break;
      }
      for (int64_t i = 0; i < count; ++i) {
        const unsigned char* line = reinterpret_cast<const unsigned char*>(lines[i]);
        out.pixels.insert(out.pixels.end(), line, line + line_bytes);
      }
    }
    out.warned = out.status.is_ok() && decoder_->warned();
    decoder_->close();
    return out;
  }
  Decoded decode(const std::string& encoded, ImageRegion region = {}, int64_t at_once = 3) {
    return decode(bytes_of(encoded), region, at_once);
  }

 private:
  std::unique_ptr<std::byte[]> memory_;
  FrameScratch scratch_;
  std::unique_ptr<ImageDecoder> decoder_;
};

// The pixels of `region` of an image of `width` pixels of `pixel_bytes`.
inline std::vector<unsigned char> part_of(const std::vector<unsigned char>& pixels, int64_t width,
                                          int64_t pixel_bytes, const ImageRegion& region) {
  std::vector<unsigned char> part;
  for (int64_t y = 0; y < region.height; ++y) {
    const unsigned char* line = pixels.data() + ((region.top + y) * width + region.left) * pixel_bytes;
    part.insert(part.end(), line, line + region.width * pixel_bytes);
  }
  return part;
}

}  // namespace dataline
