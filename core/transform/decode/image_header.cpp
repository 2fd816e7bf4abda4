// SPDX-License-Identifier: Apache-2.0
#include "core/transform/decode/image_header.h"

#include <cstring>

#include "core/transform/decode/jpeg_header.h"
#include "core/transform/decode/png_header.h"
#include "core/transform/decode/webp_header.h"

namespace dataline {
namespace {

struct Foreign {
  int64_t offset;
  std::string_view magic;
  std::string_view name;
};

using namespace std::string_view_literals;

// What people have in their folders that is no image we decode.
constexpr Foreign kForeign[] = {
    {0, "GIF87a", "GIF is not supported"},
    {0, "GIF89a", "GIF is not supported"},
    {0, "II*\0"sv, "TIFF is not supported"},
    {0, "MM\0*"sv, "TIFF is not supported"},
    {0, "II+\0"sv, "BigTIFF is not supported"},
    {0, "MM\0+"sv, "BigTIFF is not supported"},
    {0, "BM", "BMP is not supported"},
    {0, "\xFF\x0A", "JPEG XL is not supported"},
    {0, "\0\0\0\x0CJXL \r\n\x87\n"sv, "JPEG XL is not supported"},
    {0, "\0\0\0\x0CjP  \r\n\x87\n"sv, "JPEG 2000 is not supported"},
    {0, "\xFF\x4F\xFF\x51", "JPEG 2000 is not supported"},
    {4, "ftypavif", "AVIF is not supported"},
    {4, "ftypavis", "AVIF is not supported"},
    {4, "ftyphei", "HEIC is not supported"},
    {4, "ftyphev", "HEIC is not supported"},
    {4, "ftypmif1", "HEIF is not supported"},
    {4, "ftypmsf1", "HEIF is not supported"},
    {0, "\0\0\1\0"sv, "ICO is not supported"},
    {0, "8BPS", "PSD is not supported"},
    {0, "%PDF", "PDF is no image"},
    {0, "PK\3\4", "a zip archive, no image"},
    {0, "\x1F\x8B", "gzipped bytes, no image"},
    {0, "\x93NUMPY", "an npy file, no image"},
    {0, "version https://git-lfs", "a git-LFS pointer instead of the image: run git lfs pull"},
    {0, "<!DOCTYPE", "an HTML page instead of the image"},
    {0, "<!doctype", "an HTML page instead of the image"},
    {0, "<html", "an HTML page instead of the image"},
    {0, "<HTML", "an HTML page instead of the image"},
    {0, "<svg", "SVG is not supported"},
    {0, "<?xml", "XML text, no image"},
};

bool netpbm(Bytes encoded) {
  if (encoded.size() < 3 || encoded[0] != std::byte{'P'}) return false;
  const int kind = static_cast<int>(encoded[1]), space = static_cast<int>(encoded[2]);
  return kind >= '1' && kind <= '7' && (space == ' ' || space == '\t' || space == '\n' || space == '\r');
}

std::string first_bytes(Bytes encoded) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (size_t i = 0; i < encoded.size() && i < 8; ++i) {
    const int value = static_cast<int>(encoded[i]);
    if (i > 0) text += ' ';
    text += kDigits[value >> 4];
    text += kDigits[value & 15];
  }
  return text;
}

Status name_foreign(Bytes encoded) {
  if (encoded.empty()) return error(Code::kTruncated, "0 bytes, expected an image (JPEG, PNG or WebP)");
  for (const Foreign& foreign : kForeign) {
    const size_t end = static_cast<size_t>(foreign.offset) + foreign.magic.size();
    if (encoded.size() < end) continue;
    if (std::memcmp(&encoded[foreign.offset], foreign.magic.data(), foreign.magic.size()) == 0) {
      return error(Code::kCorrupt, foreign.name, ", expected JPEG, PNG or WebP");
    }
  }
  if (netpbm(encoded)) return error(Code::kCorrupt, "PPM is not supported, expected JPEG, PNG or WebP");
  return error(Code::kCorrupt, "no image: ", encoded.size(), " bytes that begin with ", first_bytes(encoded),
               ", expected JPEG (ff d8), PNG (89 50 4e 47) or WebP (RIFF....WEBP)");
}

// The first bytes of a magic number and no more: the rest was cut off.
bool begins(Bytes encoded, std::string_view magic) {
  return encoded.size() < magic.size() && !encoded.empty() &&
         std::memcmp(encoded.data(), magic.data(), encoded.size()) == 0;
}

}  // namespace

std::string_view image_format_name(ImageFormat format) {
  switch (format) {
    case ImageFormat::kJpeg:
      return "JPEG";
    case ImageFormat::kPng:
      return "PNG";
    case ImageFormat::kWebp:
      return "WebP";
  }
  return "unknown";
}

Result<ImageHeader> read_image_header(Bytes encoded) {
  if (is_jpeg(encoded)) return read_jpeg_header(encoded);
  if (is_png(encoded)) return read_png_header(encoded);
  if (is_webp(encoded)) return read_webp_header(encoded);
  if (begins(encoded, "\xFF\xD8") || begins(encoded, "\x89PNG\r\n\x1A\n") ||
      (encoded.size() < 12 &&
       (begins(encoded, "RIFF") || (encoded.size() >= 4 && !std::memcmp(encoded.data(), "RIFF", 4))))) {
    return error(Code::kTruncated, "ends at byte ", encoded.size(), ", inside the first bytes of an image");
  }
  return name_foreign(encoded);
}

}  // namespace dataline
