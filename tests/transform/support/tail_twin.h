// What core/base/tail.h says of a tail, one element at a time, with the conversions of core/transform/elements/convert.h.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "core/base/tail.h"

namespace dataline::tests {

// One row. `view`: the row's own, or the tail's.
std::vector<std::byte> twin_tail(const Tail& tail, const std::vector<std::byte>& row,
                                 const TailGeometry& view);

}  // namespace dataline::tests
