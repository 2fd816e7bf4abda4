// The contact sheet of a job's first pictures.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "bindings/cli/command_line.h"
#include "bindings/cli/interrupts.h"

namespace dataline::cli {

// Of the dataset and loader that `request` describes; its other flags do not count. A PNG file's bytes. Throws Failure where there are
// no pictures.
std::string preview_png(const Request& request, const Interrupts& interrupts, int64_t count);

}  // namespace dataline::cli
