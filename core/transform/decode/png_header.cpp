// SPDX-License-Identifier: Apache-2.0
#include "core/base/text.h"
#include "core/transform/decode/image_header.h"

#include <cstring>

#include "core/base/checked.h"

namespace dataline {
namespace {

constexpr int64_t kHeaderEnd = 33;   // a signature of 8 bytes and IHDR
constexpr int64_t kChunkBytes = 12;  // length, name and checksum
constexpr int64_t kMaxSize = (int64_t{1} << 31) - 1;
constexpr int64_t kMaxChunks = 1 << 16;  // searched for Exif and XMP

// Channels of a colour type, 0 for none. A palette counts as 1.
int32_t channels_of(int colour) {
  constexpr int32_t kChannels[] = {1, 0, 3, 1, 2, 0, 4};
  return colour >= 0 && colour <= 6 ? kChannels[colour] : 0;
}

bool depth_fits(int colour, int depth) {
  if (depth == 8) return true;
  if (colour == 0) return depth == 1 || depth == 2 || depth == 4 || depth == 16;
  if (colour == 3) return depth == 1 || depth == 2 || depth == 4;
  return depth == 16;
}

constexpr char kEnd[] = {0, 0, 0, 0, 'I', 'E', 'N', 'D', '\xAE', '\x42', '\x60', '\x82'};

// The run of IDAT chunks that starts at `begin`.
void take_pixels(Bytes encoded, int64_t begin, PngParts* parts) {
  const int64_t size = static_cast<int64_t>(encoded.size());
  int64_t at = begin;
  while (extent_fits(at, kChunkBytes, size) && std::memcmp(&encoded[at + 4], "IDAT", 4) == 0) {
    const int64_t bytes = kChunkBytes + load_big<uint32_t>(&encoded[at]);
    if (!extent_fits(at, bytes, size)) {
      parts->pixels = encoded.subspan(begin);
      return;
    }
    at += bytes;
  }
  parts->pixels = encoded.subspan(begin, at - begin);
  parts->end = std::as_bytes(std::span(kEnd));
}

// Exif and XMP may come before or after the pixels. Damage ends the search and is not an error; so does the second frame of an
// animation, as in Pillow.
Result<int32_t> find_orientation(Bytes encoded) {
  const int64_t size = static_cast<int64_t>(encoded.size());
  int64_t at = kHeaderEnd;
  bool pixels = false;
  Orientations found;
  for (int64_t i = 0; i < kMaxChunks && extent_fits(at, kChunkBytes, size); ++i) {
    const int64_t length = load_big<uint32_t>(&encoded[at]);
    if (!extent_fits(at + 8, length, size)) break;
    const std::string_view name(reinterpret_cast<const char*>(&encoded[at + 4]), 4);
    const Bytes body = encoded.subspan(at + 8, length);
    if (name == "IEND" || (name == "fcTL" && pixels)) break;
    pixels = pixels || name == "IDAT";
    if (name == "eXIf") {
      found.exif = exif_orientation(body);
      found.has_exif = true;
    } else if (name == "tEXt" || name == "zTXt" || name == "iTXt") {
      DL_RETURN_IF_ERROR(read_png_text(name, body, found));
    }
    at += kChunkBytes + length;
  }
  return found.chosen();
}

Status check(const ImageHeader& header, int colour, int compression, int filter, int interlace) {
  if (header.height < 1 || header.width < 1 || header.height > kMaxSize || header.width > kMaxSize) {
    return error(Code::kCorrupt, "PNG header at byte 16 states ", picture_size(header.height, header.width),
                 ", expected 1..", kMaxSize);
  }
  if (header.channels == 0) {
    return error(Code::kCorrupt, "PNG header at byte 25 states colour type ", colour,
                 ", expected 0, 2, 3, 4 or 6");
  }
  if (!depth_fits(colour, header.bits)) {
    return error(Code::kCorrupt, "PNG header at byte 24 states ", header.bits, " bits, which colour type ",
                 colour, " does not support");
  }
  if (compression != 0 || filter != 0 || interlace > 1) {
    return error(Code::kCorrupt, "PNG header at byte 26 states compression ", compression, ", filter ",
                 filter, ", interlace ", interlace, ", expected 0, 0 and 0 or 1");
  }
  return Status::ok();
}

}  // namespace

Result<ImageHeader> read_png_header(Bytes encoded) {
  const int64_t size = static_cast<int64_t>(encoded.size());
  if (size < kHeaderEnd) {
    return error(Code::kTruncated, "PNG ends at byte ", size, ", expected ", kHeaderEnd, " bytes of header");
  }
  if (std::memcmp(&encoded[12], "CgBI", 4) == 0) {
    return error(
        Code::kUnsupported,
        "PNG of Apple's iOS tools (CgBI), which other programs do not read: convert it with pngcrush "
        "-revert-iphone-optimizations");
  }
  const int64_t length = load_big<uint32_t>(&encoded[8]);
  if (length != 13 || std::memcmp(&encoded[12], "IHDR", 4) != 0) {
    return error(Code::kCorrupt, "PNG has no header chunk at byte 8, expected IHDR of 13 bytes");
  }
  auto byte = [&](int64_t at) { return static_cast<int>(encoded[at]); };
  ImageHeader header;
  header.format = ImageFormat::kPng;
  header.width = load_big<uint32_t>(&encoded[16]);
  header.height = load_big<uint32_t>(&encoded[20]);
  header.bits = byte(24);
  header.channels = channels_of(byte(25));
  header.progressive = byte(28) == 1;
  DL_RETURN_IF_ERROR(check(header, byte(25), byte(26), byte(27), byte(28)));
  DL_ASSIGN_OR_RETURN(header.orientation, find_orientation(encoded));
  return header;
}

// The last PLTE or tRNS before the pixels is used, as in Pillow.
Result<PngParts> find_png_parts(Bytes encoded) {
  const int64_t size = static_cast<int64_t>(encoded.size());
  PngParts parts;
  parts.header = encoded.first(kHeaderEnd);
  int64_t at = kHeaderEnd;
  while (extent_fits(at, kChunkBytes, size)) {
    const int64_t length = load_big<uint32_t>(&encoded[at]);
    const std::string_view name(reinterpret_cast<const char*>(&encoded[at + 4]), 4);
    if (name == "IDAT") {
      take_pixels(encoded, at, &parts);
      return parts;
    }
    if (name == "IEND") return error(Code::kCorrupt, "PNG has no pixels (IDAT) before its end at byte ", at);
    if (!extent_fits(at + kChunkBytes, length, size)) break;
    const Bytes chunk = encoded.subspan(at, kChunkBytes + length);
    if (name == "PLTE") parts.palette = chunk;
    if (name == "tRNS") parts.transparency = chunk;
    at += kChunkBytes + length;
  }
  return error(Code::kTruncated, "PNG ends at byte ", size, ", before its pixels (IDAT)");
}

}  // namespace dataline
