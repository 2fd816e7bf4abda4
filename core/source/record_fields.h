// The URI keys that describe a record without a header of its own.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "core/base/field.h"
#include "core/source/uri.h"

namespace dataline {

// `fields=label:u8,image:u8[3x32x32]`, or `dtype=u8&shape=28x28` for the one field `data` (without a shape: a
// scalar). kBadUri with column when they do not parse, contradict each other or are missing.
Result<std::vector<Field>> record_fields(const Uri& uri);

}  // namespace dataline
