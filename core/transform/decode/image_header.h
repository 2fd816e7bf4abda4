// Size and type of an encoded image, read from its header without a decoder. Sources: ITU T.81 (JPEG), W3C PNG, RFC 9649
// (WebP), JEITA CP-3451 (Exif).
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
  int32_t bits = 8;          // per channel
  int32_t orientation = 1;   // Exif, 1..8; 1 if absent
  bool progressive = false;  // or interlaced
};

// kCorrupt: not a supported image (the message names git-LFS pointers, HTML pages and other formats) or an inconsistent
// header; kTruncated: the bytes end before the size is known. Messages give byte offsets, expected and got; callers add the
// file or sample.
Result<ImageHeader> read_image_header(Bytes encoded);

}  // namespace dataline
