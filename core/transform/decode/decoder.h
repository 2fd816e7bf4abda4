// Encoded image -> lines of pixels. Only a rectangle is decoded where the format allows it: JPEG lines outside it are
// skipped (entropy decoding only) and columns outside it are not transformed.
//
//   open(bytes)   reads the header and checks the limits; nothing is decoded
//   start(region) begins to decode a rectangle
//   lines()       returns lines of it
//
// Pixels are those of Pillow's Image.open(...).convert(mode), bit for bit (libjpeg-turbo's default ISLOW DCT and fancy
// upsampling).
//
// Threads: externally synchronized; one per worker, reused for every row.
// Failure: any call may fail; the decoder is then ready for the next open().
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "core/base/bytes.h"
#include "core/base/status.h"
#include "core/transform/decode/image_header.h"
#include "core/transform/pixels/frame.h"
#include "core/transform/pixels/lines.h"

namespace dataline {

// The options of the same names; an error message names the option to change.
struct DecodeLimits {
  bool accept_warnings =
      true;  // on_warning: damage that the decoder only warns about, such as truncated or wrong JPEG data
  int64_t max_pixels = 178956970;                 // Pillow's limit, against decompression bombs
  int64_t max_scans = 100;                        // of a progressive JPEG
  int64_t max_decoded_bytes = int64_t{64} << 20;  // of one image: its frames, lines and decoder memory
};

enum class PixelMode { kRgb, kGray, kRgba, kUnchanged };

// Not for kUnchanged.
constexpr int64_t channels_of(PixelMode mode) {
  return mode == PixelMode::kGray ? 1 : mode == PixelMode::kRgba ? 4 : 3;
}

struct DecodeOptions {
  PixelMode mode = PixelMode::kRgb;
  bool orient = false;  // apply the Exif orientation
  DecodeLimits limits;
};

class HostOperator;

// What the buckets of a loader are of: sequences padded to an edge, or images of a shape.
enum class BucketBy : int32_t { kNone, kLength, kAspect };

// The loader's options that apply to transforms.
struct TransformSettings {
  DecodeLimits limits;
  int64_t max_bytes_per_sample = 1 << 20;  // room for samples of unknown size between two passes
  std::vector<std::shared_ptr<const HostOperator>> operators = {};  // of the host's
  BucketBy buckets = BucketBy::kNone;                               // of whose size rows can be
  size_t added_fields =
      0;  // the last fields are the loader's, not the set's: they do not make "the only field" two
  // Of each field the place of its first operator in the list that it is the rest of, which draws are keyed by; none: 0.
  std::vector<int64_t> first_places = {};
  // The header of a field's first record, which determines the type of decode(mode=unchanged); may be empty.
  std::function<Result<ImageHeader>(size_t field)> first_header;
};

class FormatDecoder;

// Selects the format's decoder, enforces the limits and applies the Exif orientation.
class ImageDecoder : public LineSource {
 public:
  explicit ImageDecoder(const DecodeOptions& options);
  ~ImageDecoder() override;

  // Of the open image as delivered: after orientation, in the requested mode.
  int64_t height() const { return turns() ? header_.width : header_.height; }
  int64_t width() const { return turns() ? header_.height : header_.width; }
  int64_t channels() const;
  int64_t element_bytes() const;  // 2 for 16-bit images with kUnchanged

  // Whether the decoder has warned about damage in lines returned since open(). Never with accept_warnings=false.
  bool warned() const;

  // `encoded` is borrowed until the next open() or close(). kUnsupported names the library of a format that this build has not.
  Status open(Bytes encoded);
  // `region` is inside the image. `max_lines`: maximum count of one lines() call (may be the whole height: then all lines
  // stay valid). Memory comes from `scratch` and stays valid until the caller resets it.
  Status start(const ImageRegion& region, int64_t max_lines, FrameScratch& scratch);
  const std::byte* const* lines(int64_t first, int64_t count) override;
  const Status& status() const override { return status_; }
  // Releases everything that belongs to the image. Safe at any time.
  void close();

 private:
  bool turns() const { return header_.orientation > 4; }  // height and width are exchanged
  Status open_format(Bytes encoded);
  Status start_format(const ImageRegion& region, int64_t max_lines, FrameScratch& scratch);

  DecodeOptions options_;
  std::array<std::unique_ptr<FormatDecoder>, 4> formats_;  // null: this build lacks it
  FormatDecoder* current_ = nullptr;                       // while an image is open
  Bytes encoded_;
  ImageHeader header_;
  bool started_ = false;
  const std::byte* const* turned_ = nullptr;  // the finished lines of a rotated image
  Status status_;
};

}  // namespace dataline
