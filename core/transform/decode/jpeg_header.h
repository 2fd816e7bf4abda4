// The markers of a JPEG file (ITU T.81 annex B), walked as libjpeg walks them, without decoding.
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

// Up to the first frame header (SOFn). Exif is taken from APP1 segments before it.
Result<ImageHeader> read_jpeg_header(Bytes encoded);

// Scans (SOS markers) of the file, counted up to `most` + 1. Entropy-coded data is passed over at the speed of memchr.
int64_t count_jpeg_scans(Bytes encoded, int64_t most);

}  // namespace dataline
