// WebP by libwebp: its cropping decoder, with as much around the region as its upsampling and filters look at, into
// scratch. The whole region is decoded by start(). A lossy image whose alpha is wanted is decoded whole: libwebp 1.2.4
// gives other alpha when it crops. Animations are refused: which of their frames is meant is not ours to
// say.
//
// Bounded by max_decoded_bytes: what the size lets libwebp take. Not bounded by it: the Huffman tables of a lossless file,
// up to 12 KiB for each 2.5 bytes of it, in libwebp 1.2 without a way to cap them.
// SPDX-License-Identifier: Apache-2.0
#include "core/transform/decode/format_decoder.h"

#if DATALINE_HAS_LIBWEBP

#include <webp/decode.h>

#include <algorithm>

#include "core/transform/decode/line_ring.h"
#include "core/transform/decode/pixels.h"

namespace dataline {
namespace {

// Pixels around the region whose chroma its own depends on; even, as libwebp crops at even offsets.
constexpr int64_t kMargin = 2;
// libwebp's rows of macroblocks, caches and small tables, per pixel of width and at all (measured, rounded up).
constexpr int64_t kWidthBytes = 256, kDecoderBytes = int64_t{128} << 10;

Status failure_of(VP8StatusCode code, int64_t bytes) {
  switch (code) {
    case VP8_STATUS_OUT_OF_MEMORY:
      return error(Code::kNoMemory, "WebP: out of memory");
    case VP8_STATUS_SUSPENDED:
    case VP8_STATUS_NOT_ENOUGH_DATA:
      return error(Code::kTruncated, "WebP ends at byte ", bytes, ", inside the image");
    case VP8_STATUS_UNSUPPORTED_FEATURE:
      return error(Code::kUnsupported, "WebP: a feature that libwebp does not support");
    default:
      return error(Code::kCorrupt, "WebP of ", bytes, " bytes: damaged image data");
  }
}

class WebpDecoder : public FormatDecoder {
 public:
  explicit WebpDecoder(const DecodeOptions& options) : options_(options) {}

  int64_t channels() const override { return channels_; }
  int64_t element_bytes() const override { return 1; }
  const Status& status() const override { return status_; }
  void close() override {}

  Status open(Bytes encoded, const ImageHeader& header) override;
  Status start(const ImageRegion& region, int64_t most_lines, FrameScratch& scratch) override {
    status_ = decode(region, most_lines, scratch);
    return status_;
  }
  const std::byte* const* lines(int64_t first, int64_t count) override;

 private:
  Status decode(const ImageRegion& region, int64_t most_lines, FrameScratch& scratch);

  DecodeOptions options_;
  Bytes encoded_;
  ImageHeader header_;
  ImageRegion region_;
  bool alpha_ = false, gray_ = false, whole_ = false;
  int64_t channels_ = 3;
  LineRing pixels_, grays_;
  int64_t first_ = 0;  // line of what was decoded that is the first of the region
  int64_t next_ = 0;   // line to be made grey
  Status status_;
};

Status WebpDecoder::open(Bytes encoded, const ImageHeader& header) {
  encoded_ = encoded;
  header_ = header;
  WebPBitstreamFeatures features;
  const VP8StatusCode code =
      WebPGetFeatures(reinterpret_cast<const uint8_t*>(encoded.data()), encoded.size(), &features);
  if (code != VP8_STATUS_OK) return failure_of(code, static_cast<int64_t>(encoded.size()));
  if (features.has_animation != 0) return error(Code::kUnsupported, "animated WebP is not supported");
  if (features.width != header.width || features.height != header.height) {
    return error(Code::kCorrupt, "WebP has two headers that differ: ", header.width, "x", header.height,
                 " and ", features.width, "x", features.height);
  }
  gray_ = options_.mode == PixelMode::kGray;
  alpha_ = options_.mode == PixelMode::kRgba ||
           (options_.mode == PixelMode::kUnchanged && features.has_alpha != 0);
  channels_ = gray_ ? 1 : alpha_ ? 4 : 3;
  const bool lossless = features.format == 2;
  whole_ = alpha_ && features.has_alpha != 0 && !lossless;
  const int64_t pixel_bytes = lossless ? 4 : features.has_alpha != 0 ? 5 : 0;
  const int64_t bytes =
      header.height * header.width * pixel_bytes + header.width * kWidthBytes + kDecoderBytes;
  if (bytes > options_.limits.max_decoded_bytes) {
    return error(Code::kTooLarge, lossless ? "lossless " : "", "WebP of ", header.width, "x", header.height,
                 " needs ", bytes, " bytes to decode, max_decoded_bytes is ",
                 options_.limits.max_decoded_bytes);
  }
  return Status::ok();
}

Status WebpDecoder::decode(const ImageRegion& region, int64_t most_lines, FrameScratch& scratch) {
  region_ = region;
  next_ = 0;
  const int64_t margin = whole_ ? std::max(header_.width, header_.height) : kMargin;
  const int64_t left = std::max<int64_t>(0, region.left - margin) & ~int64_t{1};
  const int64_t top = std::max<int64_t>(0, region.top - margin) & ~int64_t{1};
  const int64_t width = std::min(header_.width, region.left + region.width + margin) - left;
  const int64_t height = std::min(header_.height, region.top + region.height + margin) - top;
  const int64_t pixel = alpha_ ? 4 : 3;
  bool fits = pixels_.take(height, width * pixel, (region.left - left) * pixel, scratch);
  if (fits && gray_) fits = grays_.take(most_lines, region.width, 0, scratch);
  if (!fits) return scratch.too_large(header_.height, header_.width, pixels_.bytes());

  WebPDecoderConfig config;
  if (WebPInitDecoderConfig(&config) == 0)
    return error(Code::kUnsupported, "WebP: libwebp of another version");
  config.options.use_cropping = whole_ ? 0 : 1;
  config.options.crop_left = static_cast<int>(left);
  config.options.crop_top = static_cast<int>(top);
  config.options.crop_width = static_cast<int>(width);
  config.options.crop_height = static_cast<int>(height);
  config.output.colorspace = alpha_ ? MODE_RGBA : MODE_RGB;
  config.output.is_external_memory = 1;
  config.output.u.RGBA.rgba = reinterpret_cast<uint8_t*>(pixels_.write(0)[0]);
  config.output.u.RGBA.stride = static_cast<int>(pixels_.line_stride());
  config.output.u.RGBA.size = static_cast<size_t>(height * pixels_.line_stride());
  const VP8StatusCode code =
      WebPDecode(reinterpret_cast<const uint8_t*>(encoded_.data()), encoded_.size(), &config);
  WebPFreeDecBuffer(&config.output);
  if (code != VP8_STATUS_OK) return failure_of(code, static_cast<int64_t>(encoded_.size()));
  first_ = region.top - top;
  return Status::ok();
}

const std::byte* const* WebpDecoder::lines(int64_t first, int64_t count) {
  if (!status_.is_ok()) return nullptr;
  if (!gray_) return pixels_.read(first_ + first);
  for (next_ = std::max(next_, first); next_ < first + count; ++next_) {
    const std::byte* from = pixels_.read(first_ + next_)[0];
    std::byte* to = grays_.write(next_)[0];
    for (int64_t x = 0; x < region_.width; ++x, from += 3) {
      to[x] = static_cast<std::byte>(
          luma(static_cast<int>(from[0]), static_cast<int>(from[1]), static_cast<int>(from[2])));
    }
  }
  return grays_.read(first);
}

}  // namespace

std::unique_ptr<FormatDecoder> make_webp_decoder(const DecodeOptions& options) {
  return std::make_unique<WebpDecoder>(options);
}

}  // namespace dataline

#else

namespace dataline {
std::unique_ptr<FormatDecoder> make_webp_decoder(const DecodeOptions&) { return nullptr; }
}  // namespace dataline

#endif  // DATALINE_HAS_LIBWEBP
