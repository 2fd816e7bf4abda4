// The commands. Each returns the exit status, or throws Failure or Interrupted.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "bindings/cli/command_line.h"

namespace dataline::cli {

int run_info(const Request& request, const Interrupts& interrupts);
int run_show(const Request& request, const Interrupts& interrupts);
int run_cat(const Request& request, const Interrupts& interrupts);
int run_verify(const Request& request, const Interrupts& interrupts);
int run_convert(const Request& request, const Interrupts& interrupts);
int run_recover(const Request& request, const Interrupts& interrupts);
int run_preview(const Request& request, const Interrupts& interrupts);
int run_bench(const Request& request, const Interrupts& interrupts);
int run_report(const Request& request, const Interrupts& interrupts);
int run_doctor(const Request& request, const Interrupts& interrupts);
int run_options(const Request& request, const Interrupts& interrupts);
int run_formats(const Request& request, const Interrupts& interrupts);
int run_transforms(const Request& request, const Interrupts& interrupts);
int run_version(const Request& request, const Interrupts& interrupts);
int run_completion(const Request& request, const Interrupts& interrupts);

// For a table that has no row with the name in `request`: throws Failure with the nearest of `names`.
[[noreturn]] void no_such_name(const Request& request, const char* what,
                               const std::vector<std::string>& names);

// The default of an option for this command: the library's, except for cat, show, verify, convert and recover (one epoch), show and info (no
// workers), verify (an image that the decoder warns of is bad).
std::string default_of(const Command& command, const dl_option_info& option);

}  // namespace dataline::cli
