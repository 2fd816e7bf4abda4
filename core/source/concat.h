// Datasets one after another, as one index space.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "core/source/part.h"

namespace dataline {

// Parts have the same fields in the same order: name, kind, dtype, shape, and axes where both know them; and
// those that name classes name the same; else kMismatch names both parts and what differs. One part: that part.
Result<SourceRef> concat_sources(std::vector<Part> parts);

}  // namespace dataline
