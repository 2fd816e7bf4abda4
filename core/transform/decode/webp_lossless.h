// Computes what libwebp will allocate for a lossless WebP stream (VP8L, RFC 9649) besides its pixels. A stream may request
// 65,536 groups of Huffman codes with 2.5 bytes of file each; libwebp allocates 12 to 20 KB for each and takes no limit.
//
// The parts that determine the memory are parsed as libwebp parses them: the transforms, the colour cache, and the image of
// group numbers. Of the latter only the largest literal matters: copies and the colour cache repeat earlier literals or 0.
//
// Cost: the images of transforms and groups are decoded a second time, without being stored. They have at most a sixteenth
// of the pixels, usually a few hundredths of a per cent.
// Threads: any. Memory: 36 KiB of stack.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "core/base/bytes.h"

namespace dataline {

struct LosslessNeed {
  int64_t pixel_bytes = 0;  // the pixels themselves: less than the image's if a palette packs them
  int64_t table_bytes = 0;  // the images of transforms and groups, and the groups' codes
  int64_t groups = 1;
  bool damaged = false;    // the sums are then an upper bound for what was read
  bool truncated = false;  // damaged because the bytes end
};

// `stream` begins after the five bytes of VP8L's header, or the one byte of ALPH's.
LosslessNeed measure_lossless(Bytes stream, int64_t width, int64_t height);

}  // namespace dataline
