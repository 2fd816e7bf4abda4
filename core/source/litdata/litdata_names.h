// The names of the fields of a LitData set, from the tree of an item: keys of dicts, places in lists and tuples, joined by '/'.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/status.h"

namespace dataline {

// `spec`: as torch.utils._pytree.treespec_dumps writes it (protocol 1). An item that is one value: "data". `place` begins messages.
// kCorrupt; kUnsupported (another protocol, a tree too deep, more than kMaxShardColumns leaves).
Result<std::vector<std::string>> litdata_names(const std::string& place, std::string_view spec);

}  // namespace dataline
