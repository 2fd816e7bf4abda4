// What a schema described by the host (arrays, readers) must hold.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <vector>

#include "core/base/field.h"
#include "core/base/status.h"

namespace dataline {

// Limits what a host can describe: one run's cells of a reader then fit on a worker's stack.
constexpr size_t kMaxHostFields = 256;
// Of one sample of one field; with the limit above, what a run needs in all fits 63 bits.
constexpr int64_t kMaxHostFieldBytes = int64_t{1} << 48;

// At least one field, names that are not empty and differ, known kinds and dtypes, shapes within kMaxRank
// whose bytes fit, axes that match. kInvalidArgument, kTooLarge; `what` begins the message.
Status check_host_fields(const std::vector<Field>& fields, std::string_view what);

}  // namespace dataline
