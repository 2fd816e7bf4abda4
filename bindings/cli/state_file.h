// Atomic writes (after a crash a file has its old or its new content), and the saved state of a job.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "bindings/cli/interrupts.h"

namespace dataline::cli {

// Throws Failure if there is no such file or it cannot be a state, or Interrupted.
std::string read_state_file(const std::string& path, const Interrupts& interrupts);

// For a check before a long run: throws Failure if `path` cannot be written (no such folder, not a plain file).
void check_file_target(const std::string& path);

// Writes a temporary file in the same folder, fsync, rename, fsync of the folder. If a step fails, the old file stays, and Failure
// is thrown with `lost` in its message: "the state was not saved".
void write_file(const std::string& path, std::string_view text, std::string_view lost);

}  // namespace dataline::cli
