// The orientation an Exif block gives (JEITA CP-3451, tag 0x0112 of the first IFD). Exif decorates a picture: a block that
// is damaged, hostile or of another kind is worth orientation 1, never an error.
//
// Threads: any.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "core/base/bytes.h"

namespace dataline {

// `tiff` begins with "II*\0" or "MM\0*", as in PNG's eXIf chunk. 1..8; 1 where it does not say.
int32_t exif_orientation(Bytes tiff);

// The same after "Exif\0\0", as in JPEG's APP1; WebP's EXIF chunk is seen with and without it.
int32_t exif_orientation_prefixed(Bytes block);

}  // namespace dataline
