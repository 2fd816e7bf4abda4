// CRC-32, as gzip, zip archives and pages of Parquet files have it.
// Threads: plain functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "core/base/bytes.h"

namespace dataline {

// Of bytes that come after those whose checksum is `crc` (0: none).
uint32_t extend_crc32(uint32_t crc, Bytes bytes);

}  // namespace dataline
