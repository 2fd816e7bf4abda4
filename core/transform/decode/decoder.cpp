// SPDX-License-Identifier: Apache-2.0
#include "core/transform/decode/decoder.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/base/checked.h"
#include "core/base/text.h"
#include "core/transform/decode/format_decoder.h"

namespace dataline {
namespace {

// By ImageFormat, from 1 on.
constexpr std::string_view kLibraries[] = {"libjpeg", "libspng", "libwebp", ""};

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
// written to its final place. Costs the rectangle's bytes of scratch, for such images only. `region` is a rectangle of the
// rotated image.
Result<const std::byte* const*> turned_lines(FormatDecoder& decoder, const ImageHeader& header,
                                             const ImageRegion& region, FrameScratch& scratch) {
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
  return static_cast<const std::byte* const*>(table);
}

}  // namespace

ImageDecoder::ImageDecoder(const DecodeOptions& options) : options_(options) {
#if DATALINE_HAS_LIBJPEG
  formats_[0] = make_jpeg_decoder(options);
#endif
#if DATALINE_HAS_LIBSPNG
  formats_[1] = make_png_decoder(options);
#endif
#if DATALINE_HAS_LIBWEBP
  formats_[2] = make_webp_decoder(options);
#endif
  formats_[3] = make_pnm_decoder(options);
}
ImageDecoder::~ImageDecoder() = default;

int64_t ImageDecoder::channels() const { return current_->channels(); }
int64_t ImageDecoder::element_bytes() const { return current_->element_bytes(); }
bool ImageDecoder::warned() const { return current_ != nullptr && current_->warned(); }

Status ImageDecoder::open(Bytes encoded) {
  close();
  status_ = open_format(encoded);
  if (!status_.is_ok()) close();
  return status_;
}

Status ImageDecoder::start(const ImageRegion& region, int64_t max_lines, FrameScratch& scratch) {
  status_ = start_format(region, max_lines, scratch);
  return status_;
}

const std::byte* const* ImageDecoder::lines(int64_t first, int64_t count) {
  if (turned_ != nullptr) return turned_ + first;
  const std::byte* const* lines = current_->lines(first, count);
  if (lines == nullptr) status_ = current_->status();
  return lines;
}

void ImageDecoder::close() {
  if (current_ != nullptr) current_->close();
  current_ = nullptr;
  started_ = false;
  turned_ = nullptr;
  header_ = {};
}

Status ImageDecoder::open_format(Bytes encoded) {
  DL_ASSIGN_OR_RETURN(header_, read_image_header(encoded));
  if (!options_.orient) header_.orientation = 1;
  const std::optional<int64_t> pixels = checked_multiply(header_.height, header_.width);
  if (!pixels || *pixels > options_.limits.max_pixels) {
    return error(Code::kTooLarge, image_format_name(header_.format), " of ",
                 picture_size(header_.height, header_.width), ", max_pixels is ", options_.limits.max_pixels,
                 "; raise max_pixels to at least ", header_.height * header_.width);
  }
  const size_t index = static_cast<size_t>(header_.format) - 1;
  FormatDecoder* decoder = formats_[index].get();
  if (decoder == nullptr) {
    return error(Code::kUnsupported, image_format_name(header_.format), " needs ", kLibraries[index],
                 ", which this build does not have");
  }
  encoded_ = encoded;
  current_ = decoder;
  return decoder->open(encoded, header_);
}

Status ImageDecoder::start_format(const ImageRegion& region, int64_t max_lines, FrameScratch& scratch) {
  if (current_ == nullptr) return error(Code::kInternal, "start() of a decoder without an image");
  if (started_) DL_RETURN_IF_ERROR(current_->open(encoded_, header_));
  started_ = true;
  if (header_.orientation == 1) return current_->start(region, max_lines, scratch);
  DL_ASSIGN_OR_RETURN(turned_, turned_lines(*current_, header_, region, scratch));
  return Status::ok();
}

}  // namespace dataline
