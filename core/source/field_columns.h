// Schemas with one column per field, each at offset 0, and sources brought to that layout so that they can be
// concatenated.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "core/source/source.h"

namespace dataline {

Schema column_per_field(std::vector<Field> fields);

// Whether two sources hold their fields in the same columns at the same offsets.
bool same_layout(const Schema& a, const Schema& b);

// The source with a column per field; itself if it has that layout already. kInternal for a schema whose columns are not
// numbered in the order of the fields that first use them (none of ours).
Result<SourceRef> with_column_per_field(SourceRef source);

}  // namespace dataline
