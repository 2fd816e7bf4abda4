// Netpbm's PBM, PGM, PPM and PAM. Where the mode is the file's own and values are bytes of 0 to 255, lines are the file's bytes
// and nothing is copied. The sample cache keeps images this way.
//
// Values are scaled as Pillow's PpmImagePlugin does: v / maxval * 255, rounded half to even. PGM of maxval above 255 is
// Pillow's mode I, 0 to 65535, whose conversions to 8 bits clip at 255. mode=unchanged delivers the file's own values; a
// bitmap's are 0 and 255 in every mode.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "core/transform/decode/format_decoder.h"

namespace dataline {
namespace {

constexpr int64_t kMaxTokenBytes = 10;  // of a number as text, as in Pillow

// Values as text, in the order of the file. Comments end at their line, and may be inside a number, as in Pillow.
class TextValues {
 public:
  void start(Bytes encoded, const PnmPixels& pixels) {
    encoded_ = encoded;
    at_ = pixels.begin;
    bitmap_ = pixels.bitmap();
    maxval_ = pixels.maxval;
  }
  Status next(int64_t& value) {
    while (at_ < size() && is_space(peek())) step();
    const int64_t begin = at_;
    if (begin >= size())
      return error(Code::kTruncated, "PNM ends at byte ", encoded_.size(),
                   ", inside its pixels: a value is missing");
    value = 0;
    for (int64_t digits = 0; at_ < size() && !is_space(peek()); step()) {
      const int digit = peek() - '0';
      if (digit < 0 || digit > 9 || ++digits > kMaxTokenBytes)
        return error(Code::kCorrupt, "PNM, at byte ", begin, ": expected a number of at most ",
                     kMaxTokenBytes, " digits");
      value = value * 10 + digit;
      if (bitmap_) {
        step();
        break;
      }
    }
    if (value <= maxval_) return Status::ok();
    return error(Code::kCorrupt, "PNM, at byte ", begin, ": expected a value of at most ", maxval_, ", got ",
                 value);
  }

 private:
  static bool is_space(int c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
  int64_t size() const { return static_cast<int64_t>(encoded_.size()); }
  // The next character that is not in a comment; a space at the end.
  int peek() {
    while (at_ < size() && encoded_[static_cast<size_t>(at_)] == std::byte{'#'}) {
      while (at_ < size() && !ends_line(encoded_[static_cast<size_t>(at_)])) ++at_;
      at_ = std::min(at_ + 1, size());
    }
    return at_ < size() ? static_cast<int>(encoded_[static_cast<size_t>(at_)]) : ' ';
  }
  static bool ends_line(std::byte c) { return c == std::byte{'\n'} || c == std::byte{'\r'}; }
  void step() { ++at_; }

  Bytes encoded_;
  int64_t at_ = 0, maxval_ = 1;
  bool bitmap_ = false;
};

class PnmDecoder final : public FormatDecoder {
 public:
  explicit PnmDecoder(const DecodeOptions& options) : options_(options) {}

  int64_t channels() const override {
    return options_.mode == PixelMode::kUnchanged ? header_.channels : channels_of(options_.mode);
  }
  int64_t element_bytes() const override {
    return options_.mode == PixelMode::kUnchanged && header_.bits > 8 ? 2 : 1;
  }
  void close() override { encoded_ = {}; }

  Status open(Bytes encoded, const ImageHeader& header) override;
  const std::byte* const* lines(int64_t first, int64_t count) override;

 private:
  Status begin(const ImageRegion& region, int64_t max_lines, FrameScratch& scratch) override;
  bool converts() const { return channels() != header_.channels; }
  // Lines are bytes of the file.
  bool stored() const { return !converts() && pixels_.kind >= 5 && pixels_.maxval == 255; }
  int64_t value_bytes() const { return header_.bits > 8 ? 2 : 1; }
  int64_t line_values() const { return header_.width * header_.channels; }
  int64_t line_bytes() const {
    return pixels_.kind == 4 ? (header_.width + 7) / 8 : line_values() * value_bytes();
  }
  void make_table();
  void put_value(int64_t value, std::byte*& to) const;
  Status fill_line(int64_t line, std::byte* to);
  Status skip_values(int64_t count);
  void convert_line(const std::byte* from, std::byte* to) const;

  DecodeOptions options_;
  ImageHeader header_;
  PnmPixels pixels_;
  Bytes encoded_;
  ImageRegion region_;
  FrameSource stored_;                  // lines as stored
  LineRing ring_;                       // else
  std::byte* own_ = nullptr;            // a line with the file's channels, before its conversion
  std::array<std::byte, 256> table_{};  // of values up to 255
  TextValues text_;
  int64_t next_ = 0;  // line of the region
};

Status PnmDecoder::open(Bytes encoded, const ImageHeader& header) {
  header_ = header;
  DL_ASSIGN_OR_RETURN(pixels_, find_pnm_pixels(encoded));
  const int64_t values = header.height * line_values();
  const int64_t expected = pixels_.kind == 1 ? values
                           : pixels_.text()  ? 2 * values - 1  // digits and what separates them
                                             : header.height * line_bytes();
  const auto got = static_cast<int64_t>(encoded.size()) - pixels_.begin;
  if (got < expected) {
    return error(Code::kTruncated, "PNM ends at byte ", encoded.size(), ", inside its pixels: expected ",
                 pixels_.text() ? "at least " : "", expected, " bytes of them from byte ", pixels_.begin,
                 " on, got ", got);
  }
  encoded_ = encoded;
  return Status::ok();
}

// Python's round(): halves go to the even neighbour, as nearbyint does in the default mode.
int64_t scaled(int64_t value, int64_t maxval, double most) {
  return static_cast<int64_t>(
      std::nearbyint(static_cast<double>(value) / static_cast<double>(maxval) * most));
}

void PnmDecoder::make_table() {
  for (int64_t value = 0; value < 256; ++value) {
    const bool as_stored = options_.mode == PixelMode::kUnchanged && !pixels_.bitmap();
    const int64_t grey = pixels_.bitmap() ? 255 - 255 * std::min<int64_t>(value, 1)
                         : as_stored      ? value
                                          : std::min<int64_t>(255, scaled(value, pixels_.maxval, 255));
    table_[static_cast<size_t>(value)] = static_cast<std::byte>(grey);
  }
}

void PnmDecoder::put_value(int64_t value, std::byte*& to) const {
  if (header_.bits <= 8) {
    *to++ = table_[static_cast<size_t>(value)];
  } else if (options_.mode == PixelMode::kUnchanged) {
    const auto word = static_cast<uint16_t>(value);
    std::memcpy(to, &word, sizeof word);
    to += sizeof word;
  } else {
    const double most = header_.channels == 1 ? 65535 : 255;
    *to++ = static_cast<std::byte>(std::min<int64_t>(255, scaled(value, pixels_.maxval, most)));
  }
}

Status PnmDecoder::skip_values(int64_t count) {
  for (int64_t i = 0, value = 0; i < count; ++i) DL_RETURN_IF_ERROR(text_.next(value));
  return Status::ok();
}

// The region's part of a line of the file, in the file's channels. Lines of text are read in order.
Status PnmDecoder::fill_line(int64_t line, std::byte* to) {
  const int64_t first = region_.left * header_.channels, count = region_.width * header_.channels;
  if (pixels_.text()) {
    DL_RETURN_IF_ERROR(skip_values(first));
    for (int64_t i = 0, value = 0; i < count; ++i) {
      DL_RETURN_IF_ERROR(text_.next(value));
      put_value(value, to);
    }
    return skip_values(line_values() - first - count);
  }
  const std::byte* const from = encoded_.data() + pixels_.begin + line * line_bytes();
  for (int64_t i = first; i < first + count; ++i) {
    if (pixels_.kind == 4)
      put_value(static_cast<int>(from[i / 8]) >> (7 - i % 8) & 1, to);
    else
      put_value(
          value_bytes() == 2 ? int64_t{load_big<uint16_t>(from + 2 * i)} : static_cast<int64_t>(from[i]), to);
  }
  return Status::ok();
}

Status PnmDecoder::begin(const ImageRegion& region, int64_t max_lines, FrameScratch& scratch) {
  region_ = region;
  next_ = 0;
  if (stored()) {
    // Read only: frames are written by nobody but who took their pixels.
    const Frame frame{.pixels = const_cast<std::byte*>(encoded_.data() + pixels_.begin),
                      .height = header_.height,
                      .width = header_.width,
                      .channels = header_.channels};
    return stored_.start(frame, region, max_lines, scratch);
  }
  make_table();
  own_ = converts() ? scratch.take(region.width * header_.channels) : nullptr;
  const bool fits = ring_.take(max_lines, region.width * channels() * element_bytes(), 0, scratch);
  if (!fits || (converts() && own_ == nullptr))
    return scratch.too_large(header_.height, header_.width, ring_.bytes() + region.width * header_.channels);
  if (!pixels_.text()) return Status::ok();
  text_.start(encoded_, pixels_);
  return skip_values(region.top * line_values());
}

const std::byte* const* PnmDecoder::lines(int64_t first, int64_t count) {
  if (stored()) return stored_.lines(first, count);
  if (!status_.is_ok()) return nullptr;
  for (; next_ < first + count; ++next_) {
    std::byte* const to = *ring_.write(next_);
    status_ = fill_line(region_.top + next_, converts() ? own_ : to);
    if (!status_.is_ok()) return nullptr;
    if (converts()) convert_line(own_, to);
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
