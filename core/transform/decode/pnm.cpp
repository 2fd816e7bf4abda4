// Netpbm's PGM, PPM and PAM: pixels as they are. Where the mode is the file's own, lines are the file's bytes and nothing is
// copied. The sample cache keeps images this way.
// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "core/transform/decode/format_decoder.h"

namespace dataline {
namespace {

class PnmDecoder final : public FormatDecoder {
 public:
  explicit PnmDecoder(const DecodeOptions& options) : options_(options) {}

  int64_t channels() const override {
    return options_.mode == PixelMode::kUnchanged ? header_.channels : channels_of(options_.mode);
  }
  int64_t element_bytes() const override { return 1; }
  void close() override { pixels_ = nullptr; }

  Status open(Bytes encoded, const ImageHeader& header) override;
  const std::byte* const* lines(int64_t first, int64_t count) override;

 private:
  Status begin(const ImageRegion& region, int64_t max_lines, FrameScratch& scratch) override;
  bool converts() const { return channels() != header_.channels; }
  void convert_line(const std::byte* from, std::byte* to) const;

  DecodeOptions options_;
  ImageHeader header_;
  const std::byte* pixels_ = nullptr;
  ImageRegion region_;
  FrameSource stored_;  // without conversion
  LineRing ring_;       // else
  int64_t next_ = 0;    // line of the region
};

Status PnmDecoder::open(Bytes encoded, const ImageHeader& header) {
  header_ = header;
  DL_ASSIGN_OR_RETURN(const int64_t begin, find_pnm_pixels(encoded));
  const int64_t expected = header.height * header.width * header.channels;
  const auto got = static_cast<int64_t>(encoded.size()) - begin;
  if (got < expected) {
    return error(Code::kTruncated, "PNM ends at byte ", encoded.size(), ", inside its pixels: expected ",
                 expected, " bytes of them from byte ", begin, " on, got ", got);
  }
  pixels_ = encoded.data() + begin;
  return Status::ok();
}

Status PnmDecoder::begin(const ImageRegion& region, int64_t max_lines, FrameScratch& scratch) {
  region_ = region;
  next_ = 0;
  if (!converts()) {
    // Read only: frames are written by nobody but who took their pixels.
    const Frame frame{.pixels = const_cast<std::byte*>(pixels_),
                      .height = header_.height,
                      .width = header_.width,
                      .channels = header_.channels};
    return stored_.start(frame, region, max_lines, scratch);
  }
  const int64_t line_bytes = region.width * channels();
  if (ring_.take(max_lines, line_bytes, 0, scratch)) return Status::ok();
  return scratch.too_large(header_.height, header_.width, ring_.bytes());
}

const std::byte* const* PnmDecoder::lines(int64_t first, int64_t count) {
  if (!converts()) return stored_.lines(first, count);
  const int64_t stored_line = header_.width * header_.channels;
  for (; next_ < first + count; ++next_) {
    const std::byte* const line = pixels_ + (region_.top + next_) * stored_line;
    convert_line(line + region_.left * header_.channels, *ring_.write(next_));
  }
  return ring_.read(first);
}

// Of PAM's depths 2 and 4 the last channel is alpha.
void PnmDecoder::convert_line(const std::byte* from, std::byte* to) const {
  const int64_t in = header_.channels, out = channels();
  const bool grey = in <= 2, clear = in == 2 || in == 4;
  for (int64_t x = 0; x < region_.width; ++x, from += in, to += out) {
    const auto value = [from](int64_t c) { return static_cast<int>(from[c]); };
    const int alpha = clear ? value(in - 1) : 255;
    if (grey && options_.mode == PixelMode::kGray) {
      to[0] = from[0];
    } else {
      const Rgb colour = grey ? Rgb{value(0), value(0), value(0)} : Rgb{value(0), value(1), value(2)};
      put_pixel(options_.mode, colour, alpha, to);
    }
  }
}

}  // namespace

std::unique_ptr<FormatDecoder> make_pnm_decoder(const DecodeOptions& options) {
  return std::make_unique<PnmDecoder>(options);
}

}  // namespace dataline
