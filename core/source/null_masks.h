// nulls=mask: each field x is followed, behind all fields, by x/valid, a bool that is false where x is null in that sample.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "core/source/nulls.h"
#include "core/source/source.h"

namespace dataline {

// The source with its masks, where `fill` asks for them; else as it is. The source fills nulls and says so (Run::valid).
// kUnsupported: a field has the name of a mask.
Result<SourceRef> with_null_masks(SourceRef source, const std::optional<NullFill>& fill);

}  // namespace dataline
