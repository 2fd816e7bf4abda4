// SPDX-License-Identifier: Apache-2.0
#include "core/transform/decode/image_header.h"

#include <cstring>

namespace dataline {
namespace {

struct Foreign {
  size_t offset;
  std::string_view magic;
  std::string_view name;
};

using namespace std::string_view_literals;

// Common files that are not images we decode.
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
    {0, "Pf\n", "PFM is not supported"},
    {0, "PF\n", "PFM is not supported"},
    {0, "%PDF", "PDF is not an image"},
    {0, "PK\3\4", "a zip archive, not an image"},
    {0, "\x1F\x8B", "gzipped bytes, not an image"},
    {0, "\x93NUMPY", "an npy file, not an image"},
    {0, "version https://git-lfs", "a git-LFS pointer instead of the image: run git lfs pull"},
    {0, "<!DOCTYPE", "an HTML page instead of the image"},
    {0, "<!doctype", "an HTML page instead of the image"},
    {0, "<html", "an HTML page instead of the image"},
    {0, "<HTML", "an HTML page instead of the image"},
    {0, "<svg", "SVG is not supported"},
    {0, "<?xml", "XML text, not an image"},
};

bool starts_with(Bytes bytes, std::string_view magic, size_t offset = 0) {
  return bytes.size() >= offset + magic.size() &&
         std::memcmp(&bytes[offset], magic.data(), magic.size()) == 0;
}

bool is_pnm(Bytes encoded) {
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
  if (encoded.empty()) return error(Code::kTruncated, "0 bytes, expected an image (JPEG, PNG, WebP or PNM)");
  for (const Foreign& foreign : kForeign) {
    if (starts_with(encoded, foreign.magic, foreign.offset))
      return error(Code::kCorrupt, foreign.name, ", expected JPEG, PNG, WebP or PNM");
  }
  return error(Code::kCorrupt, "not an image: ", encoded.size(), " bytes that start with ",
               first_bytes(encoded),
               ", expected JPEG (ff d8), PNG (89 50 4e 47), WebP (RIFF....WEBP) or PNM (P1 to P7)");
}

// Whether the bytes end within a magic number.
bool begins(Bytes encoded, std::string_view magic) {
  return encoded.size() < magic.size() && !encoded.empty() &&
         std::memcmp(encoded.data(), magic.data(), encoded.size()) == 0;
}

}  // namespace

std::string_view image_format_name(ImageFormat format) {
  constexpr std::string_view kNames[] = {"JPEG", "PNG", "WebP", "PNM"};
  return kNames[static_cast<size_t>(format) - 1];
}

Result<ImageHeader> read_image_header(Bytes encoded) {
  constexpr std::string_view kJpeg = "\xFF\xD8", kPng = "\x89PNG\r\n\x1A\n", kRiff = "RIFF";
  if (starts_with(encoded, kJpeg)) return read_jpeg_header(encoded);
  if (starts_with(encoded, kPng)) return read_png_header(encoded);
  if (starts_with(encoded, kRiff) && starts_with(encoded, "WEBP", 8)) return read_webp_header(encoded);
  if (is_pnm(encoded)) return read_pnm_header(encoded);
  if (begins(encoded, kJpeg) || begins(encoded, kPng) ||
      (encoded.size() < 12 && (begins(encoded, kRiff) || starts_with(encoded, kRiff)))) {
    return error(Code::kTruncated, "ends at byte ", encoded.size(), ", inside the first bytes of an image");
  }
  return name_foreign(encoded);
}

}  // namespace dataline
