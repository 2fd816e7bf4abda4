// The schema of a table that comes through Arrow's C data interface.
// Source: Apache Arrow, "The Arrow C data interface", format strings and metadata.
// Threads: plain functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "core/base/arrow_c_data.h"
#include "core/base/status.h"
#include "core/source/arrow/schema.h"

namespace dataline {

// The columns: the children of a struct, or the only one of another type, which is called `data` where it has no name.
// kCorrupt: a schema that contradicts itself; kUnsupported: a format that this release does not know; kTooLarge: more than
// 65,536 fields, or a tree deeper than 64.
Result<std::vector<ArrowField>> read_c_schema(const ArrowSchema& schema);

}  // namespace dataline
