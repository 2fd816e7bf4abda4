// Fields and arrays as the host describes them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "capi/dataline.h"
#include "core/base/field.h"
#include "core/base/status.h"
#include "core/loader/dataset.h"

namespace dataline::capi {

// The fields of one sample. kInvalidArgument, kUnsupported: what a newer host sets.
Result<std::vector<Field>> read_fields(const dl_view* fields, int32_t count);

// At least one array; `samples` is how many each has. kMismatch: they differ. What they point to is not looked at.
Result<std::vector<ArrayField>> read_arrays(const dl_array* arrays, int32_t count, int64_t& samples);

}  // namespace dataline::capi
