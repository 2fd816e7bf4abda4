// Size and type of an encoded image and where its parts are, read without a decoder. Sources: ITU T.81 (JPEG), W3C PNG,
// RFC 9649 (WebP), JEITA CP-3451 (Exif), Netpbm (PNM).
//
// Threads: any.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/bytes.h"
#include "core/base/status.h"

namespace dataline {

enum class ImageFormat : int32_t { kJpeg = 1, kPng = 2, kWebp = 3, kPnm = 4 };  // values of DL_IMAGE_*
std::string_view image_format_name(ImageFormat format);                         // "JPEG"

struct ImageHeader {
  ImageFormat format = ImageFormat::kJpeg;
  int64_t height = 0;  // as stored, before any Exif orientation
  int64_t width = 0;
  int32_t channels = 3;      // as stored: 1 grey or palette, 2 grey + alpha, 3, 4 (RGBA or CMYK)
  int32_t bits = 8;          // per channel
  int32_t orientation = 1;   // of Exif or XMP, 1..8; 1 if absent
  bool progressive = false;  // or interlaced
};

// kCorrupt: not a supported image (the message names git-LFS pointers, HTML pages and other formats) or an inconsistent
// header; kTruncated: the bytes end before the size is known. Messages give byte offsets, expected and got; callers add the
// file or sample.
Result<ImageHeader> read_image_header(Bytes encoded);

// --- By format.

// The bytes begin as the format's files do. JPEG: walks the markers as libjpeg does, up to the first frame header (SOFn), and
// takes Exif and XMP from APP1 segments before the first scan.
Result<ImageHeader> read_jpeg_header(Bytes encoded);
Result<ImageHeader> read_png_header(Bytes encoded);
// An animation's size is that of its canvas.
Result<ImageHeader> read_webp_header(Bytes encoded);
// PBM, PGM and PPM as text (P1, P2, P3) and as bytes (P4, P5, P6), and PAM (P7), with a maxval of 1 to 65535.
Result<ImageHeader> read_pnm_header(Bytes encoded);
struct PnmPixels {
  int64_t begin = 0;   // offset of the first
  int64_t maxval = 1;  // of a value; 1 for bitmaps
  int kind = 6;        // the digit of P1 to P7

  bool bitmap() const { return kind == 1 || kind == 4; }
  bool text() const { return kind <= 3; }
};
Result<PnmPixels> find_pnm_pixels(Bytes encoded);
// What stands before the pixels of a PAM file of 1 to 4 channels.
std::string pam_header(int64_t height, int64_t width, int64_t channels);

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

// What libwebp allocates for a lossless stream besides its pixels (webp_lossless.cpp).
struct LosslessNeed {
  int64_t pixel_bytes = 0;  // the pixels themselves: less than the image's if a palette packs them
  int64_t table_bytes = 0;  // the images of transforms and groups, and the groups' codes
  int64_t groups = 1;
  bool damaged = false;    // the sums are then an upper bound for what was read
  bool truncated = false;  // damaged because the bytes end
};

// `stream` begins after the five bytes of VP8L's header, or the one byte of ALPH's.
LosslessNeed measure_lossless(Bytes stream, int64_t width, int64_t height);

// The orientation of an Exif block (tag 0x0112 of the first IFD), 1..8, and 1 for a tag of another value. Nothing for a block
// without the tag, and for a damaged or foreign one. It begins with "II*\0" or "MM\0*", as in PNG's eXIf chunk, or with
// "Exif\0\0" before these, as in JPEG's APP1 and WebP's EXIF chunk.
std::optional<int32_t> exif_orientation(Bytes block);
// The same of an XMP packet: the first tiff:Orientation="6" or tiff:Orientation>6.
std::optional<int32_t> xmp_orientation(Bytes packet);

// What a file states. Exif is used where it has the tag, else XMP.
struct Orientations {
  bool has_exif = false;  // a block, whatever it states: PNG's raw profile is then not looked at
  std::optional<int32_t> exif, raw_profile, xmp;

  int32_t chosen() const;
};
// A PNG chunk of text (tEXt, zTXt, iTXt): XMP, or the Exif block as ImageMagick writes it ("Raw profile type exif"). Compressed
// texts need libdeflate. kNoMemory.
Status read_png_text(std::string_view chunk, Bytes body, Orientations& out);

}  // namespace dataline
