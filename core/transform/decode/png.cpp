// PNG by libspng: lines are decoded one by one up to the end of the region; an interlaced image is held as a whole, packed
// as stored.
// SPDX-License-Identifier: Apache-2.0
#include "core/base/text.h"
#include "core/transform/decode/format_decoder.h"

#if DATALINE_HAS_LIBSPNG

#include <spng.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "core/transform/decode/png_rows.h"

namespace dataline {
namespace {

// Memory of libspng and zlib besides two rows, measured; only the sum counts, against max_decoded_bytes.
constexpr int64_t kDecoderBytes = int64_t{80} << 10;

// libspng reports a malloc failure inside zlib as damaged data. errno tells them apart: it is cleared before libspng is
// called, and nothing in libspng but malloc sets it.
Status failure_of(int code, int64_t offset) {
  if (code == SPNG_EMEM || errno == ENOMEM) {
    return error(Code::kNoMemory, "PNG: out of memory").with_os_error(ENOMEM);
  }
  switch (code) {
    case SPNG_IO_EOF:
    case SPNG_EOF:
      return error(Code::kTruncated, "PNG ends at byte ", offset, ", inside its pixels");
    case SPNG_EIDAT_TOO_SHORT:
      return error(Code::kTruncated, "PNG, near byte ", offset, ": fewer pixels than its header states");
    case SPNG_ECHUNK_CRC:
      return error(Code::kCorrupt, "PNG, near byte ", offset, ": wrong checksum of a chunk");
    default:
      return error(Code::kCorrupt, "PNG, near byte ", offset, ": ", spng_strerror(code));
  }
}

class PngDecoder : public FormatDecoder {
 public:
  explicit PngDecoder(const DecodeOptions& options) : options_(options) {}
  ~PngDecoder() override { release(); }

  int64_t channels() const override { return rows_.channels(); }
  int64_t element_bytes() const override { return rows_.element_bytes(); }
  void close() override { release(); }

  Status open(Bytes encoded, const ImageHeader& header) override;
  const std::byte* const* lines(int64_t first, int64_t count) override;

 private:
  static int on_read(spng_ctx*, void* self, void* to, size_t bytes);
  Status begin(const ImageRegion& region, int64_t max_lines, FrameScratch& scratch) override;
  Status begin_decoding(FrameScratch& scratch);
  Status check(int code) { return code == SPNG_OK ? Status::ok() : failure_of(code, offset()); }
  void take_palette();
  void take_key();
  Status read_row(std::byte* to);
  const std::byte* next_row();
  int64_t offset() const { return static_cast<int64_t>(pixels_end_ - parts_.pixels.size()); }
  void release() {
    spng_ctx_free(context_);
    context_ = nullptr;
  }

  DecodeOptions options_;
  ImageHeader header_;
  spng_ctx* context_ = nullptr;
  PngParts parts_;         // what libspng has still to read
  Bytes key_;              // the body of tRNS, of grey and RGB: the colour that is transparent
  size_t pixels_end_ = 0;  // where in the file they end
  PngRows rows_;
  ImageRegion region_;
  LineRing ring_;
  int64_t packed_bytes_ = 0;     // of a row
  std::byte* packed_ = nullptr;  // a row, or all rows of an interlaced image
  int64_t row_ = 0;              // of the image, the next one
};

// libspng sees the header, the palette and the pixels, one after the other.
int PngDecoder::on_read(spng_ctx*, void* user, void* to, size_t bytes) {
  PngDecoder& self = *static_cast<PngDecoder*>(user);
  std::byte* out = static_cast<std::byte*>(to);
  for (Bytes* part : {&self.parts_.header, &self.parts_.palette, &self.parts_.transparency,
                      &self.parts_.pixels, &self.parts_.end}) {
    const size_t count = std::min(bytes, part->size());
    if (count > 0) std::memcpy(out, part->data(), count);
    *part = part->subspan(count);
    out += count;
    bytes -= count;
  }
  return bytes == 0 ? 0 : SPNG_IO_EOF;
}

Status PngDecoder::open(Bytes encoded, const ImageHeader& header) {
  release();
  header_ = header;
  const PngColour colour = static_cast<PngColour>(static_cast<int>(encoded[25]));
  rows_.set_kind(colour, header.channels, header.bits, options_.mode);
  packed_bytes_ = rows_.packed_bytes(header.width);
  const int64_t bytes = kDecoderBytes + packed_bytes_ * (header.progressive ? header.height + 3 : 2);
  if (bytes > options_.limits.max_decoded_bytes) {
    return error(Code::kTooLarge, header.progressive ? "interlaced " : "", "PNG of ",
                 picture_size(header.height, header.width), " needs ", bytes,
                 " bytes to decode, max_decoded_bytes is ", options_.limits.max_decoded_bytes,
                 "; raise max_decoded_bytes to at least ", bytes);
  }
  DL_ASSIGN_OR_RETURN(parts_, find_png_parts(encoded));
  pixels_end_ = static_cast<size_t>(parts_.pixels.data() + parts_.pixels.size() - encoded.data());
  if (colour != PngColour::kPalette) parts_.palette = {};
  if (options_.mode != PixelMode::kRgba) parts_.transparency = {};
  key_ = {};
  if (colour != PngColour::kPalette && !parts_.transparency.empty())
    key_ = parts_.transparency.subspan(8, parts_.transparency.size() - 12);
  return Status::ok();
}

void PngDecoder::take_palette() {
  spng_plte palette = {};
  spng_trns transparency = {};
  if (spng_get_plte(context_, &palette) != SPNG_OK) return;
  const bool clear = options_.mode == PixelMode::kRgba && spng_get_trns(context_, &transparency) == SPNG_OK;
  for (uint32_t i = 0; i < palette.n_entries; ++i) {
    const int alpha = clear && i < transparency.n_type3_entries ? transparency.type3_alpha[i] : 255;
    const spng_plte_entry& entry = palette.entries[i];
    rows_.set_palette(static_cast<int>(i), {{entry.red, entry.green, entry.blue}, alpha});
  }
}

// Read from the file, since libspng masks off bits above the depth. It has checked the chunk's length and checksum.
void PngDecoder::take_key() {
  if (header_.channels == 3 && key_.size() == 6) {
    auto word = [this](size_t i) { return int{load_big<uint16_t>(&key_[2 * i])}; };
    rows_.set_key({word(0), word(1), word(2)});
  } else if (header_.channels == 1 && key_.size() == 2) {
    rows_.set_key({int{load_big<uint16_t>(key_.data())}, 0, 0});
  }
}

Status PngDecoder::begin_decoding(FrameScratch& scratch) {
  errno = 0;
  context_ = spng_ctx_new(0);
  if (context_ == nullptr) return failure_of(SPNG_EMEM, 0);
  DL_RETURN_IF_ERROR(check(spng_set_crc_action(context_, SPNG_CRC_ERROR, SPNG_CRC_ERROR)));
  DL_RETURN_IF_ERROR(check(spng_set_png_stream(context_, on_read, this)));
  if (header_.progressive) {
    const int64_t bytes = packed_bytes_ * header_.height;
    packed_ = scratch.take(bytes);
    if (packed_ == nullptr) return scratch.too_large(header_.height, header_.width, bytes);
    std::memset(packed_, 0, static_cast<size_t>(bytes));  // libspng ORs single bits into rows of low depths
    const int code = spng_decode_image(context_, packed_, static_cast<size_t>(bytes), SPNG_FMT_PNG, 0);
    return check(code == SPNG_OK ? spng_decode_chunks(context_) : code);
  }
  return check(spng_decode_image(context_, nullptr, 0, SPNG_FMT_PNG, SPNG_DECODE_PROGRESSIVE));
}

Status PngDecoder::begin(const ImageRegion& region, int64_t max_lines, FrameScratch& scratch) {
  region_ = region;
  row_ = 0;
  const bool direct = rows_.same() && !header_.progressive;
  const int64_t pixel = rows_.channels() * rows_.element_bytes();
  packed_ = nullptr;
  DL_RETURN_IF_ERROR(begin_decoding(scratch));
  if (header_.channels == 1 && static_cast<int>(header_.bits) <= 8) take_palette();
  take_key();
  const bool fits = ring_.take(max_lines, direct ? packed_bytes_ : region.width * pixel,
                               direct ? region.left * pixel : 0, scratch);
  if (!header_.progressive) packed_ = scratch.take(packed_bytes_);
  if (fits && packed_ != nullptr) return Status::ok();
  return scratch.too_large(header_.height, header_.width, ring_.bytes() + packed_bytes_);
}

Status PngDecoder::read_row(std::byte* to) {
  errno = 0;
  const int code = spng_decode_row(context_, to, static_cast<size_t>(packed_bytes_));
  if (++row_ < header_.height) return check(code);
  // The last row is returned with "end of image"; only the checksum of the last chunk remains to be read.
  return check(code == SPNG_EOI ? spng_decode_chunks(context_) : code);
}

// The next row as stored; null on failure, with status_ set.
const std::byte* PngDecoder::next_row() {
  if (header_.progressive) return packed_ + packed_bytes_ * row_++;
  status_ = read_row(packed_);
  return status_.is_ok() ? packed_ : nullptr;
}

const std::byte* const* PngDecoder::lines(int64_t first, int64_t count) {
  if (!status_.is_ok()) return nullptr;
  const bool direct = rows_.same() && !header_.progressive;
  if (header_.progressive) row_ = std::max(row_, region_.top + first);
  while (row_ < region_.top + first + count) {
    const int64_t line = row_ - region_.top;
    if (line < first) {
      if (next_row() == nullptr) return nullptr;
    } else if (direct) {
      status_ = read_row(ring_.write(line)[0]);
      if (!status_.is_ok()) return nullptr;
    } else {
      const std::byte* row = next_row();
      if (row == nullptr) return nullptr;
      rows_.convert(row, region_.left, region_.width, ring_.write(line)[0]);
    }
  }
  return ring_.read(first);
}

}  // namespace

std::unique_ptr<FormatDecoder> make_png_decoder(const DecodeOptions& options) {
  return std::make_unique<PngDecoder>(options);
}

}  // namespace dataline

#endif  // DATALINE_HAS_LIBSPNG
