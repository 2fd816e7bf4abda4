// SPDX-License-Identifier: Apache-2.0
#include "core/transform/decode/decoder.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/base/checked.h"
#include "core/transform/decode/format_decoder.h"

namespace dataline {
namespace {

constexpr int kFormats = 3;

std::string_view library_of(ImageFormat format) {
  switch (format) {
    case ImageFormat::kJpeg:
      return "libjpeg";
    case ImageFormat::kPng:
      return "libspng";
    case ImageFormat::kWebp:
      return "libwebp";
  }
  return "";
}

constexpr int64_t kLinesAtOnce = 8;

// The steps of PIL.ImageOps.exif_transpose: the stored image is transposed (or not), then mirrored.
struct Turn {
  bool transpose, mirror_x, mirror_y;
};
constexpr Turn kTurns[] = {
    {false, false, false},  // 1
    {false, true, false},   // 2
    {false, true, true},    // 3: by 180 degrees
    {false, false, true},   // 4
    {true, false, false},   // 5
    {true, true, false},    // 6: clockwise
    {true, true, true},     // 7
    {true, false, true},    // 8: anticlockwise
};

// The rectangle of the stored image that corresponds to `region` of the rotated one.
ImageRegion stored(const Turn& turn, const ImageHeader& header, ImageRegion region) {
  const int64_t height = turn.transpose ? header.width : header.height;
  const int64_t width = turn.transpose ? header.height : header.width;
  if (turn.mirror_x) region.left = width - region.left - region.width;
  if (turn.mirror_y) region.top = height - region.top - region.height;
  if (turn.transpose) return {region.left, region.top, region.width, region.height};
  return region;
}

// A rectangle of an image rotated by its Exif orientation: the stored rectangle is decoded as a whole and each pixel is
// written to its final place. Costs the rectangle's bytes of scratch, for such images only.
class TurnedLines {
 public:
  // `region` is a rectangle of the rotated image; all of it is decoded.
  Status start(FormatDecoder& decoder, const ImageHeader& header, const ImageRegion& region,
               FrameScratch& scratch);
  bool active() const { return lines_ != nullptr; }
  const std::byte* const* lines(int64_t first) const { return lines_ + first; }
  void clear() { lines_ = nullptr; }

 private:
  std::byte** lines_ = nullptr;
};

Status TurnedLines::start(FormatDecoder& decoder, const ImageHeader& header, const ImageRegion& region,
                          FrameScratch& scratch) {
  const Turn turn = kTurns[header.orientation - 1];
  const ImageRegion from = stored(turn, header, region);
  const int64_t pixel = decoder.channels() * decoder.element_bytes();
  const int64_t line_bytes = region.width * pixel;
  const int64_t pointer_bytes = region.height * static_cast<int64_t>(sizeof(std::byte*));
  std::byte* pixels = scratch.take(region.height * line_bytes);
  std::byte** table = reinterpret_cast<std::byte**>(scratch.take(pointer_bytes));
  if (pixels == nullptr || table == nullptr) {
    return scratch.too_large(header.height, header.width, region.height * line_bytes + pointer_bytes);
  }
  for (int64_t y = 0; y < region.height; ++y) table[y] = pixels + y * line_bytes;

  const int64_t step_x =
      turn.transpose ? line_bytes : pixel;  // in the turned image, for one stored pixel to the right
  const int64_t signed_x = (turn.transpose ? turn.mirror_y : turn.mirror_x) ? -step_x : step_x;
  const int64_t max = std::min(kLinesAtOnce, from.height);
  DL_RETURN_IF_ERROR(decoder.start(from, max, scratch));
  for (int64_t y = 0; y < from.height; ++y) {
    const std::byte* const* line = decoder.lines(y, 1);
    if (line == nullptr) return decoder.status();
    int64_t row = turn.transpose ? 0 : y, column = turn.transpose ? y : 0;
    if (turn.mirror_y) row = region.height - 1 - row;
    if (turn.mirror_x) column = region.width - 1 - column;
    std::byte* to = pixels + row * line_bytes + column * pixel;
    for (int64_t x = 0; x < from.width; ++x, to += signed_x) {
      std::memcpy(to, line[0] + x * pixel, static_cast<size_t>(pixel));
    }
  }
  lines_ = table;
  return Status::ok();
}

// Selects the format's decoder, enforces the limits and applies the Exif orientation.
class AnyDecoder : public ImageDecoder {
 public:
  explicit AnyDecoder(const DecodeOptions& options) : options_(options) {
    formats_[0] = make_jpeg_decoder(options);
    formats_[1] = make_png_decoder(options);
    formats_[2] = make_webp_decoder(options);
  }
  bool has_any() const { return formats_[0] || formats_[1] || formats_[2]; }

  int64_t height() const override { return height_; }
  int64_t width() const override { return width_; }
  int64_t channels() const override { return current_->channels(); }
  int64_t element_bytes() const override { return current_->element_bytes(); }
  bool warned() const override { return current_ != nullptr && current_->warned(); }
  const Status& status() const override { return status_; }

  Status open(Bytes encoded) override {
    close();
    status_ = open_format(encoded);
    if (!status_.is_ok()) close();
    return status_;
  }

  Status start(const ImageRegion& region, int64_t max_lines, FrameScratch& scratch) override {
    status_ = start_format(region, max_lines, scratch);
    return status_;
  }

  const std::byte* const* lines(int64_t first, int64_t count) override {
    if (turned_.active()) return turned_.lines(first);
    const std::byte* const* lines = current_->lines(first, count);
    if (lines == nullptr) status_ = current_->status();
    return lines;
  }

  void close() override {
    if (current_ != nullptr) current_->close();
    current_ = nullptr;
    started_ = false;
    turned_.clear();
    height_ = width_ = 0;
  }

 private:
  Status open_format(Bytes encoded);
  Status start_format(const ImageRegion& region, int64_t max_lines, FrameScratch& scratch);

  DecodeOptions options_;
  std::unique_ptr<FormatDecoder> formats_[kFormats];
  FormatDecoder* current_ = nullptr;  // while an image is open
  Bytes encoded_;
  ImageHeader header_;
  bool started_ = false;
  int64_t height_ = 0, width_ = 0;
  TurnedLines turned_;
  Status status_;
};

Status AnyDecoder::open_format(Bytes encoded) {
  DL_ASSIGN_OR_RETURN(header_, read_image_header(encoded));
  if (!options_.orient) header_.orientation = 1;
  const std::optional<int64_t> pixels = checked_multiply(header_.height, header_.width);
  if (!pixels || *pixels > options_.limits.max_pixels) {
    return error(Code::kTooLarge, image_format_name(header_.format), " of ", header_.width, "x",
                 header_.height, " pixels, max_pixels is ", options_.limits.max_pixels);
  }
  FormatDecoder* decoder = formats_[static_cast<int>(header_.format) - 1].get();
  if (decoder == nullptr) {
    return error(Code::kUnsupported, image_format_name(header_.format), " needs ", library_of(header_.format),
                 ", which this build has not");
  }
  encoded_ = encoded;
  current_ = decoder;
  DL_RETURN_IF_ERROR(decoder->open(encoded, header_));
  height_ = header_.orientation > 4 ? header_.width : header_.height;
  width_ = header_.orientation > 4 ? header_.height : header_.width;
  return Status::ok();
}

Status AnyDecoder::start_format(const ImageRegion& region, int64_t max_lines, FrameScratch& scratch) {
  if (current_ == nullptr) return error(Code::kInternal, "start() of a decoder without an image");
  if (started_) DL_RETURN_IF_ERROR(current_->open(encoded_, header_));
  started_ = true;
  if (header_.orientation == 1) return current_->start(region, max_lines, scratch);
  return turned_.start(*current_, header_, region, scratch);
}

}  // namespace

Result<std::unique_ptr<ImageDecoder>> make_image_decoder(const DecodeOptions& options) {
  auto decoder = std::make_unique<AnyDecoder>(options);
  if (!decoder->has_any()) {
    return error(Code::kUnsupported, "decode needs libjpeg, libspng or libwebp, which this build has not");
  }
  return std::unique_ptr<ImageDecoder>(std::move(decoder));
}

}  // namespace dataline
