// Records from the host's own code: a table of callbacks, called from worker threads.
//
// Threads: `read` is called from several threads at once; `destroy` once, when nothing can call `read` any more.
// Failure: a bad record fails its own row with kReader, the host's code and its message; a call that fails as a whole fails
// all its rows. What the host reports is checked before it is used.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/base/field.h"
#include "core/source/source.h"

namespace dataline {

// One field of one record, to be filled by the host. Same layout as dl_reader_cell.
struct ReaderCell {
  void* data;        // at most `capacity` bytes may be written; 64-byte aligned
  int64_t capacity;  // dense: the field's bytes; ragged: max_bytes_per_sample, or the field's own maximum
  int64_t
      bytes;  // in: the field's bytes (dense) or 0; out, ragged: bytes written, or needed if above capacity
  int32_t status;  // out: not 0 if this record is bad
  int32_t reserved;
};

constexpr size_t kReaderMessageBytes = 256;

struct ReaderTable {
  void* context = nullptr;
  int64_t record_count = 0;
  // cells[record * field_count + field]. Returns 0, or another value if all records of the call are bad. `message` is
  // zeroed before the call; what the host writes there becomes part of the errors.
  int32_t (*read)(void* context, const int64_t* indices, int64_t count, ReaderCell* cells, char* message,
                  size_t message_bytes) = nullptr;
  void (*destroy)(void* context) = nullptr;  // may be null
  std::string fingerprint;                   // identifies the data in a saved state; may be empty
};

// kInvalidArgument for a null `read`, a negative count, or fields that check_host_fields() refuses; `destroy` is then not
// called. A ragged field may have max_bytes; -1: unknown.
Result<SourceRef> reader_source(std::vector<Field> fields, ReaderTable table);

}  // namespace dataline
