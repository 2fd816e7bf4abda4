// Reading the header of one image outside of any batch, for example to find the type of the first image of a set.
//
// Threads: any.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/base/status.h"
#include "core/source/source.h"
#include "core/transform/decode/image_header.h"

namespace dataline {

struct ImageFacts {
  ImageHeader header;
  int64_t bytes = 0;  // encoded
};

// The header of the encoded image in field `field` of record `index`. Nothing is decoded; of a mapped file only the header
// is read. `room_bytes`: maximum bytes of a record, for sources that copy (Source::scratch_bytes).
// kOutOfRange, kNoMemory, the source's error for the record, kCorrupt, kTruncated.
Result<ImageFacts> image_facts_of(const Source& source, size_t field, int64_t index, int64_t room_bytes);

}  // namespace dataline
