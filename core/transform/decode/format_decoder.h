// The decoder of one format, behind ImageDecoder: pixels as stored, before any Exif orientation. And what the formats share:
// a ring of lines, and the colours of a mode with the formulas of Pillow's Image.convert().
//
// Threads: externally synchronized; one per worker.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include "core/base/bytes.h"
#include "core/base/checked.h"
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

// Each only where this build has the format's library.
std::unique_ptr<FormatDecoder> make_jpeg_decoder(const DecodeOptions& options);
std::unique_ptr<FormatDecoder> make_png_decoder(const DecodeOptions& options);
std::unique_ptr<FormatDecoder> make_webp_decoder(const DecodeOptions& options);
// Always.
std::unique_ptr<FormatDecoder> make_pnm_decoder(const DecodeOptions& options);

// The last lines of a rectangle that is decoded from top to bottom, by line number.
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

// round(a * b / 255), as Pillow's MULDIV255.
constexpr int multiply_255(int a, int b) {
  const int product = a * b + 128;
  return ((product >> 8) + product) >> 8;
}

// ITU-R 601 luma in 16-bit fixed point.
constexpr int luma(int r, int g, int b) { return (r * 19595 + g * 38470 + b * 7471 + 0x8000) >> 16; }

struct Rgb {
  int r, g, b;
};

// Writes a colour and its alpha in a mode. Not for kUnchanged, which copies rows.
inline void put_pixel(PixelMode mode, const Rgb& colour, int alpha, std::byte* to) {
  if (mode == PixelMode::kGray) {
    to[0] = static_cast<std::byte>(luma(colour.r, colour.g, colour.b));
    return;
  }
  to[0] = static_cast<std::byte>(colour.r);
  to[1] = static_cast<std::byte>(colour.g);
  to[2] = static_cast<std::byte>(colour.b);
  if (mode == PixelMode::kRgba) to[3] = static_cast<std::byte>(alpha);
}

}  // namespace dataline
