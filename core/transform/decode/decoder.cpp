// SPDX-License-Identifier: Apache-2.0
#include "core/transform/decode/decoder.h"

#include <utility>

#include "core/base/checked.h"
#include "core/transform/decode/format_decoder.h"
#include "core/transform/decode/turned_lines.h"

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

// Finds the format's decoder, holds the limits, and turns what it gives by the Exif orientation.
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

  Status start(const ImageRegion& region, int64_t most_lines, FrameScratch& scratch) override {
    status_ = start_format(region, most_lines, scratch);
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
  Status start_format(const ImageRegion& region, int64_t most_lines, FrameScratch& scratch);

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

Status AnyDecoder::start_format(const ImageRegion& region, int64_t most_lines, FrameScratch& scratch) {
  if (current_ == nullptr) return error(Code::kInternal, "start() of a decoder without an image");
  if (started_) DL_RETURN_IF_ERROR(current_->open(encoded_, header_));
  started_ = true;
  if (header_.orientation == 1) return current_->start(region, most_lines, scratch);
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
