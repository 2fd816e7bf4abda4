// Datasets composed of other datasets.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/memory/host_memory.h"
#include "core/source/host/host.h"
#include "core/source/source.h"

namespace dataline {

struct Part {
  std::string name;  // zip only: names its fields; may be empty
  SourceRef source;
  std::string path;  // where it came from, for messages; may be empty
};

// One dataset after another, as one index space. The parts have the same fields in the same order: name, kind, dtype,
// shape, and axes where both parts know them; parts that name classes name the same ones. Otherwise kMismatch names both
// parts and the difference. The result for a single part is that part.
// `what`: the kind of composition, as messages and SourceInfo call it.
Result<SourceRef> concat_sources(std::vector<Part> parts, std::string_view what = "concat");

// The same of parts whose fields have the same names, whatever else they are: field f of a record is that of its part. In the
// schema fields are those of the first part, and a column whose rows differ in size from part to part has row_bytes -1.
Result<SourceRef> concat_records(std::vector<Part> parts, std::string_view what);

// Datasets side by side: sample i has the fields of sample i of every part. The only field of a named part is renamed to
// `name`, several fields to `name/field`; fields of an unnamed part keep their names. kMismatch: different lengths
// (naming both parts), or a duplicate field name.
Result<SourceRef> zip_sources(std::vector<Part> parts);

// Selected samples: sample i of the result is sample indices[i] of `source`; an index may occur more than once. The indices
// are borrowed with `owner`, else copied into `memory` (kTable). kOutOfRange gives position and value of a bad index; an
// index that the host later changes to a bad one fails its row with the same text.
Result<SourceRef> subset_source(SourceRef source, std::span<const int64_t> indices, HostOwner owner,
                                HostMemory& memory);

}  // namespace dataline
