// Figures of the kernel about this process and machine.
// SPDX-License-Identifier: Apache-2.0
#include "bindings/cli/process.h"

#include <sys/resource.h>

#include <fstream>

namespace dataline::cli {

double process_cpu_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

int64_t kilobytes_in(const char* path, const std::string& key) {
  std::ifstream file(path);
  for (std::string word; file >> word;) {
    int64_t value = 0;
    if (word == key && file >> value) return value * 1024;
  }
  return 0;
}

}  // namespace dataline::cli
