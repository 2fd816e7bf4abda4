// One record read by itself, beside all batches: what the first image of a set is, how large image 7 is.
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

// What the encoded image in field `field` of record `index` says of itself. Nothing is decoded; a mapped file is read
// only as far as its header. `room_bytes`: of a record, where its source copies (Source::scratch_bytes).
// kOutOfRange, kNoMemory, what the source says of the record, kCorrupt, kTruncated.
Result<ImageFacts> image_facts_of(const Source& source, size_t field, int64_t index, int64_t room_bytes);

}  // namespace dataline
