// Where a file states its orientation: Exif, XMP, and PNG's text. The rules are those of Pillow's Image.getexif().
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <string_view>

#include "core/base/bytes.h"
#include "core/base/checked.h"
#include "core/transform/decode/image_header.h"

#if DATALINE_HAS_LIBDEFLATE
#include <libdeflate.h>
#endif

namespace dataline {
namespace {

using namespace std::string_view_literals;

constexpr std::string_view kRawExif = "Raw profile type exif", kXmpText = "XML:com.adobe.xmp";
constexpr int64_t kMaxTextBytes = int64_t{1} << 20;  // of a text that is inflated; Pillow's MAX_TEXT_CHUNK

constexpr int64_t kEntryBytes = 12;
constexpr uint16_t kOrientationTag = 0x0112;
constexpr uint16_t kShort = 3, kLong = 4;

struct Tiff {
  Bytes bytes;
  bool big;

  uint32_t u16(int64_t at) const {
    return big ? load_big<uint16_t>(&bytes[at]) : load_little<uint16_t>(&bytes[at]);
  }
  uint32_t u32(int64_t at) const {
    return big ? load_big<uint32_t>(&bytes[at]) : load_little<uint32_t>(&bytes[at]);
  }
  bool holds(int64_t at, int64_t count) const {
    return extent_fits(at, count, static_cast<int64_t>(bytes.size()));
  }
};

// The value of an entry that holds one SHORT or LONG, as Pillow takes them; 0 for other entries.
uint32_t number_of(const Tiff& tiff, int64_t entry) {
  const uint32_t type = tiff.u16(entry + 2);
  if (tiff.u32(entry + 4) != 1) return 0;
  if (type == kShort) return tiff.u16(entry + 8);
  if (type == kLong) return tiff.u32(entry + 8);
  return 0;
}

std::string_view text_of(Bytes bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

// The part before the next zero, which is removed with it; nothing where there is none.
std::optional<std::string_view> take_word(std::string_view& text) {
  const size_t end = text.find('\0');
  if (end == std::string_view::npos) return std::nullopt;
  const std::string_view word = text.substr(0, end);
  text.remove_prefix(end + 1);
  return word;
}

int digit_of(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

// ImageMagick's form: an empty line, "exif", the number of bytes, then hexadecimal digits in lines. Decoded in place.
Bytes raw_profile(char* text, size_t bytes) {
  std::string_view rest(text, bytes);
  for (int line = 0; line < 3; ++line) {
    const size_t end = rest.find('\n');
    if (end == std::string_view::npos) return {};
    rest.remove_prefix(end + 1);
  }
  char* out = text;
  int high = -1;
  for (const char c : rest) {
    const int digit = digit_of(c);
    if (digit < 0 && c != '\n' && c != '\r' && c != ' ' && c != '\t') return {};
    if (digit < 0) continue;
    if (high < 0) {
      high = digit;
    } else {
      *out++ = static_cast<char>(high << 4 | digit);
      high = -1;
    }
  }
  return std::as_bytes(std::span(text, static_cast<size_t>(out - text)));
}

#if DATALINE_HAS_LIBDEFLATE
struct FreeDecompressor {
  void operator()(libdeflate_decompressor* one) const { libdeflate_free_decompressor(one); }
};

// Damaged and too long texts give 0 bytes; false: out of memory.
bool inflate_text(std::string_view stored, char* out, size_t room, size_t& bytes) {
  const std::unique_ptr<libdeflate_decompressor, FreeDecompressor> decompressor(
      libdeflate_alloc_decompressor());
  if (decompressor == nullptr) return false;
  const libdeflate_result result =
      libdeflate_zlib_decompress(decompressor.get(), stored.data(), stored.size(), out, room, &bytes);
  if (result != LIBDEFLATE_SUCCESS) bytes = 0;
  return true;
}
#else
bool inflate_text(std::string_view, char*, size_t, size_t& bytes) { return bytes = 0, true; }
#endif

}  // namespace

// Reads the first IFD only and follows no offset from it, so it cannot loop.
std::optional<int32_t> exif_orientation(Bytes block) {
  if (text_of(block).starts_with("Exif\0\0"sv)) block = block.subspan(6);
  if (block.size() < 8) return std::nullopt;
  const Tiff tiff{block, text_of(block).starts_with("MM\0*"sv)};
  if (!tiff.big && !text_of(block).starts_with("II*\0"sv)) return std::nullopt;
  const int64_t ifd = tiff.u32(4);
  if (!tiff.holds(ifd, 2)) return std::nullopt;
  const int64_t entries = tiff.u16(ifd);
  for (int64_t i = 0; i < entries; ++i) {
    const int64_t entry = ifd + 2 + i * kEntryBytes;
    if (!tiff.holds(entry, kEntryBytes)) return std::nullopt;
    if (tiff.u16(entry) != kOrientationTag) continue;
    const uint32_t value = number_of(tiff, entry);
    return value >= 1 && value <= 8 ? static_cast<int32_t>(value) : 1;
  }
  return std::nullopt;
}

std::optional<int32_t> xmp_orientation(Bytes packet) {
  constexpr std::string_view kName = "tiff:Orientation";
  const std::string_view text = text_of(packet);
  for (size_t at = text.find(kName); at != std::string_view::npos; at = text.find(kName, at + 1)) {
    std::string_view rest = text.substr(at + kName.size());
    if (rest.starts_with("=\""))
      rest.remove_prefix(2);
    else if (rest.starts_with(">"))
      rest.remove_prefix(1);
    else
      continue;
    if (rest.empty() || rest[0] < '0' || rest[0] > '9') continue;
    return rest[0] >= '1' && rest[0] <= '8' ? rest[0] - '0' : 1;
  }
  return std::nullopt;
}

Status read_png_text(std::string_view chunk, Bytes body, Orientations& out) {
  std::string_view text = text_of(body);
  const std::optional<std::string_view> keyword = take_word(text);
  if (!keyword) return Status::ok();
  const bool raw = *keyword == kRawExif;
  const bool block = chunk == "tEXt" && *keyword == "exif";
  if (!raw && !block && *keyword != kXmpText) return Status::ok();
  bool packed = chunk == "zTXt";
  if (chunk == "iTXt") {
    if (text.size() < 2) return Status::ok();
    packed = text[0] != 0;
    if (packed && text[1] != 0) return Status::ok();
    text.remove_prefix(2);
    if (!take_word(text) || !take_word(text)) return Status::ok();  // the language, and the keyword in it
  } else if (packed) {
    if (text.empty() || text[0] != 0) return Status::ok();
    text.remove_prefix(1);
  }
  const auto use = [&](Bytes found) {
    if (block)
      out.exif = exif_orientation(found), out.has_exif = true;
    else if (raw)
      out.raw_profile = exif_orientation(found);
    else
      out.xmp = xmp_orientation(found);
  };
  if (!packed && !raw) return use(std::as_bytes(std::span(text))), Status::ok();
  // Memory for these texts alone.
  size_t bytes = packed ? static_cast<size_t>(kMaxTextBytes) : text.size();
  const std::unique_ptr<char[]> own(new (std::nothrow) char[bytes + 1]);
  if (own == nullptr || (packed && !inflate_text(text, own.get(), bytes, bytes)))
    return error(Code::kNoMemory, "PNG: out of memory").with_os_error(ENOMEM);
  if (!packed) std::copy(text.begin(), text.end(), own.get());
  use(raw ? raw_profile(own.get(), bytes) : std::as_bytes(std::span(own.get(), bytes)));
  return Status::ok();
}

int32_t Orientations::chosen() const {
  const std::optional<int32_t>& block = has_exif ? exif : raw_profile;
  return block ? *block : xmp.value_or(1);
}

}  // namespace dataline
