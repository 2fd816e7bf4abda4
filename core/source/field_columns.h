// A source seen with one column a field, each at offset 0: what sources of equal fields but different layouts
// are brought to before they are concatenated.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "core/source/source.h"

namespace dataline {

// The schema in which every field is a column of its own.
Schema one_column_schema(std::vector<Field> fields);

// Whether two sources hold their fields in the same columns at the same offsets.
bool same_layout(const Schema& a, const Schema& b);
// Whether every field is a column of its own.
bool one_column_a_field(const Schema& schema);

// The source itself where that is so already. kInternal for a schema whose columns are not numbered in the
// order of the fields that use them first (none of ours).
Result<SourceRef> with_one_column_a_field(SourceRef source);

}  // namespace dataline
