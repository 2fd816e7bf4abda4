// The headers of JPEG (ITU T.81 annex B), PNG (W3C PNG), WebP (RFC 9649) and Exif (JEITA CP-3451), read without decoding.
//
// Threads: any.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "core/base/bytes.h"
#include "core/base/status.h"
#include "core/transform/decode/image_header.h"

namespace dataline {

bool is_jpeg(Bytes encoded);
bool is_png(Bytes encoded);
bool is_webp(Bytes encoded);

// Walks the markers as libjpeg does, up to the first frame header (SOFn). Exif is taken from APP1 segments before it.
Result<ImageHeader> read_jpeg_header(Bytes encoded);
Result<ImageHeader> read_png_header(Bytes encoded);
// An animation's size is that of its canvas.
Result<ImageHeader> read_webp_header(Bytes encoded);

// Number of scans (SOS markers) of a JPEG file; counting stops at `max` + 1. Skips entropy-coded data at memchr speed.
int64_t count_jpeg_scans(Bytes encoded, int64_t max);

// The parts of a PNG file that its pixels depend on. Text, profiles and other chunks are left out: the decoder never sees
// them, so they cannot make it inflate or allocate anything.
struct PngParts {
  Bytes header;        // signature and IHDR
  Bytes palette;       // PLTE with its length and checksum; empty if absent
  Bytes transparency;  // tRNS, likewise
  Bytes pixels;        // the first run of IDAT, as far as the file has it
  Bytes end;           // IEND after a complete run
};
Result<PngParts> find_png_parts(Bytes encoded);

// Where a WebP file's pixels are: those of the image, or of the first frame of an animation.
struct WebpParts {
  Bytes decodable;  // what libwebp is given: the file, or the chunks of the frame
  Bytes alpha;      // the body of the ALPH chunk in effect; empty if absent
  Bytes image;      // the body of VP8 or VP8L and all bytes after it: libwebp reads on
  bool lossless = false;
  bool animated = false;
  bool clear = false;                                // an animation whose canvas may be transparent
  int64_t left = 0, top = 0, width = 0, height = 0;  // of a frame on its canvas
};
// For a file whose header was read. A still image with damaged chunks has no `image`: libwebp reports what is wrong.
Result<WebpParts> find_webp_parts(Bytes encoded);

// The orientation of an Exif block (tag 0x0112 of the first IFD), 1..8. A missing, damaged or foreign block gives 1, never
// an error. `tiff` begins with "II*\0" or "MM\0*", as in PNG's eXIf chunk.
int32_t exif_orientation(Bytes tiff);
// The same with an optional "Exif\0\0" before it, as in JPEG's APP1 and WebP's EXIF chunk.
int32_t exif_orientation_prefixed(Bytes block);

}  // namespace dataline
