// The memory of this process that the kernel has given pages for, in bytes (Linux: /proc/self/statm).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <unistd.h>

#include <cstdint>
#include <fstream>

namespace dataline::tests {

inline int64_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  int64_t size = 0, resident = 0;
  file >> size >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

}  // namespace dataline::tests
