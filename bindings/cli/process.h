// Figures of the kernel about this process and machine.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace dataline::cli {

double process_cpu_seconds();  // user and system, all threads

// The value of a line such as "VmHWM:  1234 kB" of a /proc file, in bytes; 0 if there is none.
int64_t kilobytes_in(const char* path, const std::string& key);

}  // namespace dataline::cli
