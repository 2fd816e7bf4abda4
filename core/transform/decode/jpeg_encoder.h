// 8-bit pixels to a baseline JPEG file, by libjpeg with its own tables and 4:2:0, as Pillow's save(quality=) writes it.
//
// Threads: any.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/base/status.h"
#include "core/transform/pixels/frame.h"

namespace dataline {

bool has_jpeg_encoder();  // false: this build has no libjpeg

// Of 1 (grey) or 3 (RGB) channels; `quality` 1 to 100. The bytes written. kTooLarge: `room` bytes or more, for libjpeg asks for the
// next buffer as soon as one is full; kNoMemory; kUnsupported.
Result<int64_t> encode_jpeg(const Frame& frame, int quality, std::byte* out, int64_t room);

}  // namespace dataline
