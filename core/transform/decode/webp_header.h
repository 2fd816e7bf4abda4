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
Result<ImageHeader> read_webp_header(Bytes encoded);

}  // namespace dataline
