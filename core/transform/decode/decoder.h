// Encoded image -> lines of pixels, only those of a rectangle where the format allows it: JPEG lines outside are skipped
// (entropy decoding only) and columns outside are not transformed.
//
//   open(bytes)   reads the header; size and limits are settled, nothing is decoded
//   start(region) begins with a rectangle of it
//   lines()       pulls lines
//
// Pixels are those of Pillow's Image.open(...).convert(mode), bit for bit (libjpeg-turbo's default ISLOW DCT and fancy
// upsampling).
//
// Threads: externally synchronized; one a worker, reused for every row.
// Failure: each call may fail; the decoder is then ready for the next open().
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

#include "core/base/bytes.h"
#include "core/base/status.h"
#include "core/transform/decode/image_header.h"
#include "core/transform/pixels/frame.h"
#include "core/transform/pixels/lines.h"

namespace dataline {

// The options of the same names; an error names the one to change.
struct DecodeLimits {
  bool accept_warnings =
      true;  // on_warning: damage that the decoder only warns of, as in cut or wrong JPEG data
  int64_t max_pixels = 178956970;                 // Pillow's: beyond it a decompression bomb is suspected
  int64_t max_scans = 100;                        // of a progressive JPEG
  int64_t max_decoded_bytes = int64_t{64} << 20;  // of one image's frames, lines and what its decoder holds
};

enum class PixelMode { kRgb, kGray, kRgba, kUnchanged };

// Not for kUnchanged.
constexpr int64_t channels_of(PixelMode mode) {
  return mode == PixelMode::kGray ? 1 : mode == PixelMode::kRgba ? 4 : 3;
}

struct DecodeOptions {
  PixelMode mode = PixelMode::kRgb;
  bool orient = false;  // turn by the Exif orientation
  DecodeLimits limits;
};

// The loader's options that transforms obey.
struct TransformSettings {
  DecodeLimits limits;
  // The header of a field's first record, which determines the type of decode(mode=unchanged); may be empty.
  std::function<Result<ImageHeader>(size_t field)> first_header;
};

class ImageDecoder : public LineSource {
 public:
  // Of one image as it will be delivered: after orientation, in the wanted mode.
  virtual int64_t height() const = 0;
  virtual int64_t width() const = 0;
  virtual int64_t channels() const = 0;
  virtual int64_t element_bytes() const = 0;  // 2 for 16-bit images with kUnchanged

  // Whether the decoder warned of damage in the lines given so far, since open(). Never with accept_warnings=false.
  virtual bool warned() const = 0;

  // `encoded` is borrowed until the next open() or close().
  virtual Status open(Bytes encoded) = 0;
  // `region` lies inside the image. lines() will be asked for `most_lines` at once, at most (the whole height is fine:
  // then all lines stay). Memory comes from `scratch` and lives until the caller resets it.
  virtual Status start(const ImageRegion& region, int64_t max_lines, FrameScratch& scratch) = 0;
  // Lets go of everything that belongs to the image. Safe at any time.
  virtual void close() = 0;
};

// kUnsupported when this build has no decoder at all. A missing one is told by open(), naming the library.
Result<std::unique_ptr<ImageDecoder>> make_image_decoder(const DecodeOptions& options);

}  // namespace dataline
