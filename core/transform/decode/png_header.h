// The chunks of a PNG file before its pixels (W3C PNG), read without decoding.
//
// Threads: any.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "core/base/bytes.h"
#include "core/base/status.h"
#include "core/transform/decode/image_header.h"

namespace dataline {

bool is_png(Bytes encoded);
Result<ImageHeader> read_png_header(Bytes encoded);

// The parts of a file that its pixels depend on. Text, profiles and whatever else stands before the pixels is left out: a
// decoder that never sees it cannot be made to inflate or to keep it.
struct PngParts {
  Bytes header;        // signature and IHDR
  Bytes palette;       // PLTE with its length and checksum; empty where there is none
  Bytes transparency;  // tRNS, likewise
  Bytes pixels;        // the first run of IDAT, as far as the file has it
  Bytes end;           // an IEND behind a run that is whole
};
Result<PngParts> find_png_parts(Bytes encoded);

}  // namespace dataline
