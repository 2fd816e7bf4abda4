// A delivered tensor as packed bytes in C order.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bindings/cli/handles.h"
#include "bindings/cli/output.h"

namespace dataline::cli {

// Writes the view's elements to the output. A tensor that is packed already is not copied. Throws Failure for device memory.
void append_packed(const dl_view& view, Output& output);

}  // namespace dataline::cli
