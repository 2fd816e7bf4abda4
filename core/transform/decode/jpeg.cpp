// JPEG by libjpeg-turbo, with the Huffman codes of most files decoded by jpeg_huffman.h. Lines above the region are skipped;
// columns beside it are decoded but not transformed. The pixels are those of a full decode, bit for bit. libjpeg treats the
// edge of the requested columns as the edge of the image, so the region is widened by the neighbours its upsampling reads.
// SPDX-License-Identifier: Apache-2.0
#include "core/base/text.h"
#include "core/transform/decode/format_decoder.h"

#if DATALINE_HAS_LIBJPEG

#include <algorithm>

#include "core/transform/decode/jpeg_huffman.h"
#include "core/transform/decode/jpeg_session.h"

namespace dataline {
namespace {

constexpr int64_t kConvertLines = 4;  // of a line in libjpeg's colours, on their way into ours

// How the output colours of libjpeg are converted.
enum class Conversion { kNone, kRgbToGray, kCmyk };

class JpegDecoder : public FormatDecoder {
 public:
  explicit JpegDecoder(const DecodeOptions& options) : options_(options), session_(options.limits) {}

  int64_t channels() const override { return channels_; }
  int64_t element_bytes() const override { return 1; }
  bool warned() const override { return session_.warnings() > 0; }
  void close() override { session_.end(); }

  Status open(Bytes encoded, const ImageHeader& header) override;
  const std::byte* const* lines(int64_t first, int64_t count) override;

 private:
  Status begin(const ImageRegion& region, int64_t max_lines, FrameScratch& scratch) override;
  Status read_header();
  Status begin_lines();
  Status read_lines(int64_t first, int64_t end);
  Status read_again(int64_t first, int64_t end);
  Status finish();
  Status check_size();
  void choose_colours();
  bool smoothed();
  void crop(jpeg_decompress_struct& info);
  void convert(const std::byte* from, std::byte* to) const;
  void read_until(jpeg_decompress_struct& info, int64_t end);
  void skip_until(jpeg_decompress_struct& info, int64_t first);

  DecodeOptions options_;
  Bytes encoded_;
  JpegHuffman huffman_;  // before the session, which may point at it
  JpegSession session_;
  Conversion conversion_ = Conversion::kNone;
  int64_t channels_ = 3;
  ImageRegion region_;
  JDIMENSION left_ = 0, width_ = 0;  // of what libjpeg is asked for
  bool exact_skips_ = true;
  LineRing ring_, raw_;
  int64_t next_ = 0;  // line of the region that libjpeg gives next
};

Status JpegDecoder::read_header() {
  DL_RETURN_IF_ERROR(session_.begin(encoded_));
  return session_.run([](jpeg_decompress_struct& info) { jpeg_read_header(&info, TRUE); });
}

Status JpegDecoder::open(Bytes encoded, const ImageHeader& header) {
  encoded_ = encoded;
  DL_RETURN_IF_ERROR(read_header());
  const jpeg_decompress_struct& info = session_.info();
  if (info.image_width != header.width || info.image_height != header.height ||
      info.num_components != header.channels) {
    return error(Code::kCorrupt, "JPEG has two frame headers that differ");
  }
  choose_colours();
  return check_size();
}

// Files of several scans keep all their coefficients.
Status JpegDecoder::check_size() {
  jpeg_decompress_struct& info = session_.info();
  int64_t bytes = 0;
  const bool whole = jpeg_has_multiple_scans(&info) != FALSE;
  for (int i = 0; i < info.num_components; ++i) {
    const jpeg_component_info& part = info.comp_info[i];
    const int64_t rows = whole ? int64_t{part.height_in_blocks} + part.v_samp_factor : 2 * part.v_samp_factor;
    bytes += (int64_t{part.width_in_blocks} + part.h_samp_factor) * rows * DCTSIZE2 * int64_t{sizeof(JCOEF)};
  }
  const DecodeLimits& limits = options_.limits;
  if (bytes > limits.max_decoded_bytes) {
    return error(Code::kTooLarge, whole ? "progressive " : "", "JPEG of ",
                 picture_size(info.image_height, info.image_width), " needs ", bytes,
                 " bytes to decode, max_decoded_bytes is ", limits.max_decoded_bytes,
                 "; raise max_decoded_bytes to at least ", bytes);
  }
  if (!whole) return Status::ok();
  const int64_t scans = count_jpeg_scans(encoded_, limits.max_scans);
  if (scans <= limits.max_scans) return Status::ok();
  return error(Code::kTooLarge, "JPEG has more than ", limits.max_scans, " scans, max_scans is ",
               limits.max_scans);
}

// Four components are always taken for Adobe's inverted CMYK, as Pillow takes them.
void JpegDecoder::choose_colours() {
  jpeg_decompress_struct& info = session_.info();
  const PixelMode mode = options_.mode;
  conversion_ = Conversion::kNone;
  channels_ = mode == PixelMode::kUnchanged ? info.num_components : channels_of(mode);
  if (info.num_components == 4) {
    info.out_color_space = JCS_CMYK;
    if (mode != PixelMode::kUnchanged) conversion_ = Conversion::kCmyk;
  } else if (info.num_components == 1 && channels_ == 1) {
    info.out_color_space = JCS_GRAYSCALE;
  } else if (mode == PixelMode::kRgba) {
    info.out_color_space = JCS_EXT_RGBA;
  } else {
    info.out_color_space = JCS_RGB;
    if (mode == PixelMode::kGray) conversion_ = Conversion::kRgbToGray;
  }
}

// Whether libjpeg estimates coefficients missing from the scans from neighbouring blocks: the result differs next to an edge.
bool JpegDecoder::smoothed() {
  const jpeg_decompress_struct& info = session_.info();
  if (info.coef_bits == nullptr) return false;
  for (int i = 0; i < info.num_components; ++i) {
    for (int k = 1; k < 10; ++k) {
      if (info.coef_bits[i][k] != 0) return true;
    }
  }
  return false;
}

// Upsampling by 2 reads one neighbouring chroma sample: one pixel to the left (libjpeg extends that to the block's edge) and
// one sample to the right. libjpeg chooses its upsampling by the width: three samples select the usual one.
void JpegDecoder::crop(jpeg_decompress_struct& info) {
  const int64_t reach = info.max_h_samp_factor > 1 ? 1 : 0;
  const int64_t image = info.output_width;
  int64_t left = std::max<int64_t>(0, region_.left - reach);
  int64_t right = std::min<int64_t>(image, region_.left + region_.width + reach * info.max_h_samp_factor);
  const int64_t min = std::min<int64_t>(image, int64_t{4} * info.max_h_samp_factor);
  if (right - left < min) {
    right = std::min(image, left + min);
    left = std::max<int64_t>(0, right - min);
  }
  left_ = static_cast<JDIMENSION>(left);
  width_ = static_cast<JDIMENSION>(right - left);
  if (exact_skips_) {
    jpeg_crop_scanline(&info, &left_, &width_);
  } else {
    left_ = 0;
    width_ = info.output_width;
  }
}

Status JpegDecoder::begin_lines() {
  next_ = -region_.top;
  return session_.run([this](jpeg_decompress_struct& info) {
    info.dct_method = JDCT_ISLOW;
    info.do_fancy_upsampling = TRUE;
    jpeg_start_decompress(&info);
    exact_skips_ =
        !smoothed() && info.arith_code == FALSE;  // libjpeg's skipping is tried on Huffman codes only
    crop(info);
  });
}

Status JpegDecoder::begin(const ImageRegion& region, int64_t max_lines, FrameScratch& scratch) {
  region_ = region;
  DL_RETURN_IF_ERROR(begin_lines());
  huffman_.attach(session_.info());
  const jpeg_decompress_struct& info = session_.info();
  const int64_t skip = region.left - left_;
  const bool direct = conversion_ == Conversion::kNone;
  bool fits = ring_.take(max_lines, (direct ? int64_t{width_} : region.width) * channels_,
                         direct ? skip * channels_ : 0, scratch);
  if (fits && !direct) {
    fits = raw_.take(kConvertLines, int64_t{width_} * info.output_components, skip * info.output_components,
                     scratch);
  }
  return fits ? Status::ok() : scratch.too_large(info.image_height, info.image_width, ring_.bytes());
}

void JpegDecoder::convert(const std::byte* from, std::byte* to) const {
  for (int64_t x = 0; x < region_.width; ++x, to += channels_) {
    if (conversion_ == Conversion::kRgbToGray) {
      const std::byte* rgb = from + 3 * x;
      *to = static_cast<std::byte>(
          luma(static_cast<int>(rgb[0]), static_cast<int>(rgb[1]), static_cast<int>(rgb[2])));
      continue;
    }
    const std::byte* ink = from + 4 * x;  // inverted: 255 is none
    const int light = static_cast<int>(ink[3]);
    auto shade = [&](int i) { return light - multiply_255(255 - static_cast<int>(ink[i]), light); };
    put_pixel(options_.mode, {shade(0), shade(1), shade(2)}, 255, to);
  }
}

void JpegDecoder::skip_until(jpeg_decompress_struct& info, int64_t first) {
  if (next_ >= first) return;
  if (exact_skips_) {
    next_ += jpeg_skip_scanlines(&info, static_cast<JDIMENSION>(first - next_));
    return;
  }
  while (next_ < first) {  // into a line that is overwritten
    std::byte** rows = conversion_ == Conversion::kNone ? ring_.write(0) : raw_.write(0);
    next_ += jpeg_read_scanlines(&info, reinterpret_cast<JSAMPARRAY>(rows), 1);
  }
}

void JpegDecoder::read_until(jpeg_decompress_struct& info, int64_t end) {
  while (next_ < end) {
    if (conversion_ == Conversion::kNone) {
      next_ += jpeg_read_scanlines(&info, reinterpret_cast<JSAMPARRAY>(ring_.write(next_)),
                                   static_cast<JDIMENSION>(end - next_));
      continue;
    }
    const int64_t max = std::min(end - next_, kConvertLines);
    const JDIMENSION got =
        jpeg_read_scanlines(&info, reinterpret_cast<JSAMPARRAY>(raw_.write(0)), static_cast<JDIMENSION>(max));
    for (JDIMENSION i = 0; i < got; ++i) convert(raw_.read(i)[0], ring_.write(next_ + i)[0]);
    next_ += got;
  }
}

Status JpegDecoder::read_lines(int64_t first, int64_t end) {
  return session_.run([this, first, end](jpeg_decompress_struct& info) {
    skip_until(info, first);
    read_until(info, end);
  });
}

// Restarts an image that our Huffman decoder gave up: libjpeg alone decodes it from the first byte, up to the next line.
Status JpegDecoder::read_again(int64_t first, int64_t end) {
  first = std::max(first, next_);
  DL_RETURN_IF_ERROR(read_header());
  choose_colours();
  DL_RETURN_IF_ERROR(begin_lines());
  return read_lines(first, end);
}

// After the last line, as in Pillow: data that libjpeg cannot read up to the end of the image is an error, a missing end
// marker is not.
Status JpegDecoder::finish() {
  Status status = session_.run([this](jpeg_decompress_struct& info) {
    huffman_.hand_back(info);
    jpeg_finish_decompress(&info);
  });
  return session_.ended() ? Status::ok() : status;
}

const std::byte* const* JpegDecoder::lines(int64_t first, int64_t count) {
  if (!status_.is_ok()) return nullptr;
  if (next_ < first + count) {
    status_ = read_lines(first, first + count);
    if (huffman_.take_failure()) status_ = read_again(first, first + count);
    const bool last = next_ + region_.top == static_cast<int64_t>(session_.info().output_height);
    if (status_.is_ok() && last) status_ = finish();
    if (!status_.is_ok()) return nullptr;
  }
  return ring_.read(first);
}

}  // namespace

std::unique_ptr<FormatDecoder> make_jpeg_decoder(const DecodeOptions& options) {
  return std::make_unique<JpegDecoder>(options);
}

}  // namespace dataline

#endif  // DATALINE_HAS_LIBJPEG
