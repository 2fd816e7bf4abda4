// Files without a header of their own: packed little-endian records, described by the caller.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "core/base/field.h"
#include "core/memory/mapped_file.h"
#include "core/source/source.h"

namespace dataline {

struct RawOptions {
  std::vector<Field> fields;    // dense, in the order they are stored; at least one
  int64_t header_bytes = 0;     // at the start of the file, skipped
  bool partial_ignore = false;  // a cut last record is left out instead of being an error
  std::string axes;             // of the only field, or of `image`; empty: unknown
};

// One column a field. kTruncated when the file is shorter than its header or ends inside a record, with the
// offset of that record; kBadUri for fields that make no record.
Result<SourceRef> open_raw(const std::string& path, const RawOptions& options, const OpenContext& context);

}  // namespace dataline
