// What the operating system says about a file, as a status: one table for all that open and read files.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/status.h"

struct stat;

namespace dataline {

// "path: no such file or directory" with the code that fits errno `number`, which becomes os_error(). The
// words are ours, so that they are the same in every locale.
Status file_error(const std::string& path, int32_t number);
// The same for a read at an offset: "path: offset 4096: the device reported an error".
Status file_error_at(const std::string& path, int64_t offset, int32_t number);

// A call that a signal interrupts, or that asks to be tried again, is tried again; after so many times in a row that is
// an error like others, not a hang.
constexpr int kMostInterruptions = 1000;

// Whether a failure tells of the machine and not of what was asked for: memory, descriptors, threads, leases, and calls
// that were interrupted or would have had to wait. The same call may work the next time.
bool tells_of_machine(const Status& status);

// When what stat describes was modified, since 1970.
int64_t changed_ns_of(const struct stat& facts);

// "path: is a FIFO, a file is needed", by the st_mode of what was found.
Status not_a_file_error(const std::string& path, uint32_t mode);

// "no such file or directory", or "error 95" for what is not in the table.
std::string system_error_text(int32_t number);

}  // namespace dataline
