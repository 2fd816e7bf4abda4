// The saved position of a job, as a file that is always whole: the old text or the new one, also after a
// crash.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace dataline::cli {

// Throws Failure when there is no such file or it cannot be a state.
std::string read_state_file(const std::string& path);

// Before a long run: throws Failure when a state could not be written to `path` (no such folder, not a plain
// file).
void check_state_target(const std::string& path);

// A temporary file in the same folder, fsync, rename, fsync of the folder. Throws Failure; an fsync that
// fails is a failed save and leaves the old file in place.
void write_state_file(const std::string& path, std::string_view text);

}  // namespace dataline::cli
