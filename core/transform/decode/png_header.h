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

}  // namespace dataline
