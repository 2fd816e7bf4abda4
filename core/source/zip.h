// Datasets side by side: sample i has the fields of sample i of every part.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "core/source/part.h"

namespace dataline {

// A named part with one field gives the field `name`, with several `name/field`; an unnamed part's fields
// keep their names. kMismatch: unequal lengths (both named), or a field name that occurs twice.
Result<SourceRef> zip_sources(std::vector<Part> parts);

}  // namespace dataline
