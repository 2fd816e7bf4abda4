// Arrow IPC files (Feather 2) and streams, with random access by row; buffers that are delivered as they are stored are mapped,
// not copied.
//
// A sample is a row. Fields are those of columns.h. Compressed buffers are inflated into memory at open (inflation.h). Not read: the
// types that columns.h leaves out, Feather 1. Numbers are in the machine's byte order.
// Threads: immutable once open.
// Memory: batches.h.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/source/nulls.h"
#include "core/source/source.h"

namespace dataline {

class MappedFile;
struct FileExtent;
struct OpenContext;

struct ArrowOptions {
  std::vector<std::string> fields = {};  // in this order; empty: all
  std::optional<NullFill> fill = {};     // of nulls; nothing: they are errors
  bool cut = false;  // a file may be cut: what is behind its last whole record batch is left out
};

// Opens one file. The errors of messages.h, schema.h, columns.h and batches.h; kBadUri: nulls=fill(V) with a V that a field with
// nulls cannot have. A row with a null, with offsets or indices that leave their buffers, fails by itself (kCorrupt), naming file,
// offset, field, record batch and row.
Result<SourceRef> open_arrow(const std::string& path, const ArrowOptions& options,
                             const OpenContext& context);

// The same of an Arrow file or stream that a file of another format, `format`, holds: it lies at `place`.
Result<SourceRef> open_arrow_within(MappedFile file, FileExtent place, std::string_view format,
                                    const ArrowOptions& options, const OpenContext& context);

}  // namespace dataline
