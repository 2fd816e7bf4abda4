// Files without a header: packed little-endian records, described by the caller.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "core/base/field.h"
#include "core/memory/mapped_file.h"
#include "core/source/source.h"
#include "core/source/uri.h"

namespace dataline {

struct Format;
extern const Format kRawFormat;

struct RawOptions {
  std::vector<Field> fields;    // dense, in the order they are stored; at least one
  int64_t header_bytes = 0;     // at the start of the file, skipped
  bool partial_ignore = false;  // skips an incomplete last record instead of reporting an error
};

// One column per field. kTruncated if the file is shorter than its header or ends inside a record, with the offset of that
// record; kBadUri for fields that do not form a record.
Result<SourceRef> open_raw(const std::string& path, const RawOptions& options, const OpenContext& context);

// The fields that a URI describes: `fields=label:u8,image:u8[3x32x32]`, or `dtype=u8&shape=28x28` for one field `data` (a
// scalar without `shape`). kBadUri with column if the keys do not parse, contradict each other or are missing.
Result<std::vector<Field>> record_fields(const Uri& uri);

}  // namespace dataline
