// The chunks of a LitData set, where more than their table has to be known.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "core/source/litdata/litdata_columns.h"
#include "core/source/source.h"

namespace dataline {

// Of no columns yet.
ShardPlan litdata_plan();

// Dtypes and shapes of the columns by_header that `plan` delivers, from the first item of the set. kCorrupt, kTruncated; kEmpty (no item).
Status read_first_item(const std::string& directory, const LitdataIndex& index,
                       const std::vector<bool>& by_header, ShardPlan& plan, const OpenContext& context);

// A chunk of TokensLoader: each item is a document, a ragged row of tokens. `tokens`: of the chunk by the index, -1: not said.
Result<SourceRef> open_token_chunk(const std::string& directory, const ShardEntry& entry, DType dtype,
                                   int64_t tokens, const OpenContext& context);

}  // namespace dataline
