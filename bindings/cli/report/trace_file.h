// A trace that the library wrote (`trace=FILE`), read from its file.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "bindings/cli/interrupts.h"
#include "bindings/cli/report/timeline.h"

namespace dataline::cli {

// Nothing where `path` is no file, or begins as no trace does, so that it may be a dataset; but a .json that is no trace, and a trace
// without a span, throw Failure.
std::optional<Timeline> read_trace_file(const std::string& path, const Interrupts& interrupts);

}  // namespace dataline::cli
