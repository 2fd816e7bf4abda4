// Datasets in the host's memory: arrays that it lends, or a copy of them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/base/field.h"
#include "core/memory/host_memory.h"
#include "core/source/host/host.h"
#include "core/source/source.h"

namespace dataline {

// One field of all samples.
struct ArrayField {
  Field field;                      // of one sample; max_bytes is computed
  const std::byte* data = nullptr;  // dense: the first row, rows in C order; ragged: packed items
  // Dense: bytes from one row to the next. Less than a row: rows overlap; 0: every sample is the same row; negative: rows
  // go down from data. None: packed.
  std::optional<int64_t> row_stride;
  const int64_t* offsets = nullptr;  // ragged: [samples + 1]; sample i is items [offsets[i], offsets[i + 1])
  int64_t item_count = 0;            // ragged: items in data
};

// Borrowed with `owner`, else copied into `memory` (kData, one block). kInvalidArgument: a null pointer, a negative count,
// fields that check_host_fields() refuses. kTooLarge: beyond 2^63 bytes. kOutOfRange: offsets that decrease or leave
// the data, with position and value. Offsets that the host changes later fail their rows; they never lead out of the data.
Result<SourceRef> array_source(std::vector<ArrayField> fields, int64_t sample_count, HostOwner owner,
                               HostMemory& memory);

}  // namespace dataline
