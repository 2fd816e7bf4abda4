// The chunks of a WebP file (RFC 9649), read without decoding.
//
// Threads: any.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "core/base/bytes.h"
#include "core/base/status.h"
#include "core/transform/decode/image_header.h"

namespace dataline {

bool is_webp(Bytes encoded);
// The canvas of an animation.
Result<ImageHeader> read_webp_header(Bytes encoded);

// Where the pixels are: those of the image, or of the first frame of an animation.
struct WebpParts {
  Bytes decodable;  // what libwebp takes: the file, or the chunks of the frame
  Bytes alpha;      // the body of the ALPH chunk that counts; empty where there is none
  Bytes image;      // the body of VP8 or VP8L, and what follows it: libwebp reads on
  bool lossless = false;
  bool animated = false;
  bool clear = false;                                // an animation whose canvas may be transparent
  int64_t left = 0, top = 0, width = 0, height = 0;  // of a frame on its canvas
};

// Of a file whose header was read. A still image whose chunks are damaged has no `image`: what is wrong is libwebp's to say.
Result<WebpParts> find_webp_parts(Bytes encoded);

}  // namespace dataline
