// The run that a report tells of.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bindings/cli/command_line.h"
#include "bindings/cli/interrupts.h"
#include "bindings/cli/progress.h"
#include "bindings/cli/report/report_data.h"

namespace dataline::cli {

// Runs the loader for some seconds, with all that it measures, and a consumer that takes `consumer_seconds` for each batch. Throws
// Failure.
ReportData measure(const Request& request, const Interrupts& interrupts, Progress& progress, double seconds,
                   double consumer_seconds);

}  // namespace dataline::cli
