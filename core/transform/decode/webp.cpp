// WebP by libwebp's cropping decoder, into scratch: start() decodes the whole region and the margin that libwebp's
// upsampling and filters read. A lossy image with alpha is decoded as a whole, because libwebp 1.2.4 returns different alpha
// when it crops. The first frame of an animation is drawn on a canvas that is black, or transparent if the file has alpha.
//
// libwebp's memory is checked against max_decoded_bytes before it is called: what it allocates for the size, and what the
// stream of a lossless image or alpha plane requests (webp_lossless.cpp).
// SPDX-License-Identifier: Apache-2.0
#include "core/base/text.h"
#include "core/transform/decode/format_decoder.h"

#if DATALINE_HAS_LIBWEBP

#include <webp/decode.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace dataline {
namespace {

// Margin around the region that its chroma depends on; even, because libwebp crops at even offsets.
constexpr int64_t kMargin = 2;
// libwebp's rows of macroblocks, caches and small tables: per pixel of width, and constant (measured, rounded up).
constexpr int64_t kWidthBytes = 256, kWebpDecoderBytes = int64_t{128} << 10;
constexpr size_t kLosslessHeader = 5;  // of a VP8L stream

Status ends_inside(int64_t bytes) {
  return error(Code::kTruncated, "WebP ends at byte ", bytes, ", inside the image");
}
Status damaged(int64_t bytes) {
  return error(Code::kCorrupt, "WebP of ", bytes, " bytes: damaged image data");
}

// libwebp reports many malloc failures as damaged data (VP8_STATUS_BITSTREAM_ERROR, USER_ABORT). errno tells them apart:
// nothing in libwebp but malloc sets it.
Status failure_of(VP8StatusCode code, bool no_memory, int64_t bytes) {
  if (no_memory || code == VP8_STATUS_OUT_OF_MEMORY) {
    return error(Code::kNoMemory, "WebP: out of memory").with_os_error(ENOMEM);
  }
  switch (code) {
    case VP8_STATUS_SUSPENDED:
    case VP8_STATUS_NOT_ENOUGH_DATA:
      return ends_inside(bytes);
    case VP8_STATUS_UNSUPPORTED_FEATURE:
      return error(Code::kUnsupported, "WebP: a feature that libwebp does not support");
    default:
      return damaged(bytes);
  }
}

class WebpDecoder : public FormatDecoder {
 public:
  explicit WebpDecoder(const DecodeOptions& options) : options_(options) {}

  int64_t channels() const override { return channels_; }
  int64_t element_bytes() const override { return 1; }
  void close() override {}

  Status open(Bytes encoded, const ImageHeader& header) override;
  const std::byte* const* lines(int64_t first, int64_t count) override;

 private:
  int64_t bytes() const { return static_cast<int64_t>(encoded_.size()); }
  Status check_memory() const;
  Status begin(const ImageRegion& region, int64_t max_lines, FrameScratch& scratch) override;
  Status decode_into(const ImageRegion& taken);
  void make_opaque(const ImageRegion& taken);

  DecodeOptions options_;
  Bytes encoded_;
  WebpParts parts_;
  ImageHeader header_;
  ImageRegion region_;
  bool alpha_ = false, gray_ = false, whole_ = false;
  bool opaque_ = false;  // alpha is requested, but the image has none
  int64_t channels_ = 3;
  LineRing pixels_, grays_;
  int64_t first_ = 0;  // decoded line that is the first of the region
  int64_t next_ = 0;   // next line to convert to grey
};

Status WebpDecoder::open(Bytes encoded, const ImageHeader& header) {
  encoded_ = encoded;
  header_ = header;
  DL_ASSIGN_OR_RETURN(parts_, find_webp_parts(encoded));
  WebPBitstreamFeatures features;
  const VP8StatusCode code =
      WebPGetFeatures(reinterpret_cast<const uint8_t*>(encoded.data()), encoded.size(), &features);
  if (code != VP8_STATUS_OK) return failure_of(code, false, bytes());
  if (features.width != header.width || features.height != header.height) {
    return error(Code::kCorrupt,
                 "WebP has two headers that differ: ", picture_size(header.height, header.width), " and ",
                 picture_size(features.height, features.width));
  }
  if (!parts_.animated) {
    parts_.width = header.width;
    parts_.height = header.height;
  }
  const bool has_alpha = parts_.animated ? parts_.clear : features.has_alpha != 0;
  gray_ = options_.mode == PixelMode::kGray;
  alpha_ = options_.mode == PixelMode::kRgba || (options_.mode == PixelMode::kUnchanged && has_alpha);
  opaque_ = alpha_ && !has_alpha;
  channels_ = gray_ ? 1 : alpha_ ? 4 : 3;
  whole_ = alpha_ && !parts_.alpha.empty() && !parts_.lossless;
  return check_memory();
}

Status WebpDecoder::check_memory() const {
  LosslessNeed need;
  int64_t bytes = parts_.width * kWidthBytes + kWebpDecoderBytes;
  if (parts_.lossless) {
    if (parts_.image.size() >= kLosslessHeader) {
      need = measure_lossless(parts_.image.subspan(kLosslessHeader), parts_.width, parts_.height);
    }
  } else if (!parts_.alpha.empty()) {
    bytes += 2 * parts_.width * parts_.height;  // the alpha plane, which libwebp allocates twice
    if ((static_cast<int>(parts_.alpha[0]) & 3) == 1) {
      need = measure_lossless(parts_.alpha.subspan(1), parts_.width, parts_.height);
    }
  }
  bytes += need.pixel_bytes + need.table_bytes;
  if (bytes <= options_.limits.max_decoded_bytes) return Status::ok();
  const bool for_pixels = need.pixel_bytes > options_.limits.max_decoded_bytes;
  if (need.damaged && !for_pixels)
    return need.truncated ? ends_inside(this->bytes()) : damaged(this->bytes());
  return error(Code::kTooLarge, parts_.lossless ? "lossless " : "", "WebP of ",
               picture_size(parts_.height, parts_.width),
               need.groups > 1 ? concat(" with ", need.groups, " groups of Huffman codes") : "", " needs ",
               bytes, " bytes to decode, max_decoded_bytes is ", options_.limits.max_decoded_bytes,
               "; raise max_decoded_bytes to at least ", bytes);
}

Status WebpDecoder::begin(const ImageRegion& region, int64_t max_lines, FrameScratch& scratch) {
  region_ = region;
  next_ = 0;
  const int64_t margin = whole_ ? std::max(header_.width, header_.height) : kMargin;
  ImageRegion taken;
  taken.left = std::max<int64_t>(0, region.left - margin) & ~int64_t{1};
  taken.top = std::max<int64_t>(0, region.top - margin) & ~int64_t{1};
  taken.width = std::min(header_.width, region.left + region.width + margin) - taken.left;
  taken.height = std::min(header_.height, region.top + region.height + margin) - taken.top;
  const int64_t pixel = alpha_ ? 4 : 3;
  bool fits = pixels_.take(taken.height, taken.width * pixel, (region.left - taken.left) * pixel, scratch);
  if (fits && gray_) fits = grays_.take(max_lines, region.width, 0, scratch);
  if (!fits) return scratch.too_large(header_.height, header_.width, pixels_.bytes());
  DL_RETURN_IF_ERROR(decode_into(taken));
  if (opaque_) make_opaque(taken);
  first_ = region.top - taken.top;
  return Status::ok();
}

// Decodes the part of the frame inside `taken` to its position in pixels_. A frame's position on its canvas is even, as
// libwebp requires for crops.
Status WebpDecoder::decode_into(const ImageRegion& taken) {
  const int64_t left = std::max(taken.left, parts_.left), top = std::max(taken.top, parts_.top);
  const int64_t width = std::min(taken.left + taken.width, parts_.left + parts_.width) - left;
  const int64_t height = std::min(taken.top + taken.height, parts_.top + parts_.height) - top;
  const int64_t stride = pixels_.line_stride();
  std::byte* const memory = pixels_.write(0)[0];
  if (width < taken.width || height < taken.height)
    std::memset(memory, 0, static_cast<size_t>(taken.height * stride));
  if (width <= 0 || height <= 0) return Status::ok();

  WebPDecoderConfig config;
  if (WebPInitDecoderConfig(&config) == 0)
    return error(Code::kUnsupported, "WebP: libwebp of another version");
  config.options.use_cropping = whole_ && width == parts_.width && height == parts_.height ? 0 : 1;
  config.options.crop_left = static_cast<int>(left - parts_.left);
  config.options.crop_top = static_cast<int>(top - parts_.top);
  config.options.crop_width = static_cast<int>(width);
  config.options.crop_height = static_cast<int>(height);
  config.output.colorspace = alpha_ ? MODE_RGBA : MODE_RGB;
  config.output.is_external_memory = 1;
  const int64_t at = (top - taken.top) * stride + (left - taken.left) * (alpha_ ? 4 : 3);
  config.output.u.RGBA.rgba = reinterpret_cast<uint8_t*>(memory + at);
  config.output.u.RGBA.stride = static_cast<int>(stride);
  config.output.u.RGBA.size = static_cast<size_t>(taken.height * stride - at);
  const Bytes from = parts_.decodable;
  errno = 0;
  const VP8StatusCode code = WebPDecode(reinterpret_cast<const uint8_t*>(from.data()), from.size(), &config);
  const bool no_memory = errno == ENOMEM;
  WebPFreeDecBuffer(&config.output);
  return code == VP8_STATUS_OK ? Status::ok() : failure_of(code, no_memory, bytes());
}

void WebpDecoder::make_opaque(const ImageRegion& taken) {
  for (int64_t y = 0; y < taken.height; ++y) {
    std::byte* line = pixels_.write(y)[0];
    for (int64_t x = 0; x < taken.width; ++x) line[4 * x + 3] = std::byte{255};
  }
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

#endif  // DATALINE_HAS_LIBWEBP
