// Files that are always whole, the old text or the new one, also after a crash; and the saved position of a job.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace dataline::cli {

// Throws Failure when there is no such file or it cannot be a state.
std::string read_state_file(const std::string& path);

// Before a long run: throws Failure when nothing could be written to `path` (no such folder, not a plain file).
void check_file_target(const std::string& path);

// A temporary file in the same folder, fsync, rename, fsync of the folder. Throws Failure; an fsync that
// fails is a failed save and leaves the old file in place. `lost` says so: "the state was not saved".
void write_file(const std::string& path, std::string_view text, std::string_view lost);

}  // namespace dataline::cli
