// Tables in the host's memory, by Arrow's C data and C stream interfaces. Values are delivered from where they lie; columns.h says
// which types, as for files.
//
// Threads: immutable once open. The host's release callbacks are called by whoever drops the last reference to the source,
// which may be a worker; a stream's callbacks only while it is opened, on the thread that opens it.
// Memory: c_arrays.h.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "core/base/arrow_c_data.h"
#include "core/source/arrow/arrow.h"

namespace dataline {

// `fields=a,b&nulls=fill(0)`: the keys of an `arrow:` URI that a table in memory has. kBadUri with the column in `keys`.
Result<ArrowOptions> arrow_memory_options(std::string_view keys);

// All arrays of the stream, one after another. kReader: what the stream's callbacks say; the errors of c_schema.h, c_arrays.h,
// columns.h and delivery.h, with "Arrow data" in place of a path.
Result<SourceRef> open_arrow_stream(ArrowOwned<ArrowArrayStream> stream, const ArrowOptions& options,
                                    const OpenContext& context);
// One array: a struct of the columns, or the only column.
Result<SourceRef> open_arrow_array(ArrowOwned<ArrowSchema> schema, ArrowOwned<ArrowArray> array,
                                   const ArrowOptions& options, const OpenContext& context);

}  // namespace dataline
