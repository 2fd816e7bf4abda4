// What an encoded image says of itself before anything is decoded: read by us, without a decoder, from the first bytes
// that say it. Sources: ITU T.81 (JPEG), W3C PNG, RFC 9649 (WebP), JEITA CP-3451 (Exif).
//
// Threads: any.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "core/base/bytes.h"
#include "core/base/status.h"

namespace dataline {

enum class ImageFormat : int32_t { kJpeg = 1, kPng = 2, kWebp = 3 };  // values of DL_IMAGE_*
std::string_view image_format_name(ImageFormat format);               // "JPEG"

struct ImageHeader {
  ImageFormat format = ImageFormat::kJpeg;
  int64_t height = 0;  // as stored, before any Exif orientation
  int64_t width = 0;
  int32_t channels = 3;      // as stored: 1 grey or palette, 2 grey + alpha, 3, 4 (RGBA or CMYK)
  int32_t bits = 8;          // of a channel
  int32_t orientation = 1;   // Exif, 1..8; 1 where there is none
  bool progressive = false;  // or interlaced
};

// kCorrupt: no image known to us (names git-LFS pointers and HTML pages), or a header that contradicts itself; kTruncated:
// ends before the size is known. Messages give byte offsets, expected and got; callers add file or sample.
Result<ImageHeader> read_image_header(Bytes encoded);

}  // namespace dataline
