// What libwebp allocates for a lossless WebP stream (VP8L, RFC 9649) besides its pixels, known before it decodes one. A
// stream may ask for 65,536 groups of Huffman codes, 2.5 bytes of file each, for which libwebp takes 12 to 20 KB each, and
// libwebp has no way to be given a limit.
//
// The parts that say how much are read as libwebp reads them: the transforms, the colour cache, and the image of group
// numbers, of which only the largest literal matters: what copies and the colour cache give was a literal before, or 0.
//
// Cost: the images of transforms and groups are decoded once more than libwebp does, without being stored; they have at
// most a sixteenth of the pixels, usually a few hundredths of a per cent.
// Threads: any. Memory: 36 KiB of stack.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "core/base/bytes.h"

namespace dataline {

struct LosslessNeed {
  int64_t pixel_bytes = 0;  // the pixels themselves: fewer than the image's where a palette packs them
  int64_t table_bytes = 0;  // the images of transforms and groups, and the groups' codes
  int64_t groups = 1;
  bool damaged = false;    // the sums are then the most that libwebp may take for what was read
  bool truncated = false;  // damaged because the bytes end
};

// `stream` begins behind VP8L's header of five bytes, or behind ALPH's of one.
LosslessNeed measure_lossless(Bytes stream, int64_t width, int64_t height);

}  // namespace dataline
