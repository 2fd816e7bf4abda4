// SPDX-License-Identifier: Apache-2.0
#include "bindings/cli/doctor/machine.h"

#if __has_include(<sys/resource.h>)
#include <sys/resource.h>
#endif

#include <algorithm>
#include <cstring>
#include <fstream>
#include <memory>
#include <sstream>

#include "bindings/cli/clock.h"
#include "bindings/cli/system.h"

namespace dataline::cli {
namespace {

constexpr size_t kCopyBytes = size_t{32} << 20;
constexpr int kCopies = 4;

// The least cpu.max from this process's cgroup up to the root.
double quota_in_force() {
  std::ifstream groups("/proc/self/cgroup");
  std::string path;
  for (std::string line; std::getline(groups, line);)
    if (line.starts_with("0::")) path = line.substr(3);
  double least = 0;
  while (true) {
    std::ifstream file("/sys/fs/cgroup" + path + "/cpu.max");
    std::string text;
    if (std::getline(file, text)) {
      const double quota = quota_of(text);
      if (quota > 0 && (least == 0 || quota < least)) least = quota;
    }
    if (path.empty()) return least;
    path.resize(path.find_last_of('/') == std::string::npos ? 0 : path.find_last_of('/'));
  }
}

double memcpy_bytes_per_s() {
  const auto from = std::make_unique<char[]>(kCopyBytes), to = std::make_unique<char[]>(kCopyBytes);
  std::memcpy(to.get(), from.get(), kCopyBytes);  // touches the pages
  double best = 0;
  for (int i = 0; i < kCopies; ++i) {
    const auto start = Clock::now();
    std::memcpy(to.get(), from.get(), kCopyBytes);
    best = std::max(best, static_cast<double>(kCopyBytes) / seconds_since(start));
  }
  return best;
}

}  // namespace

double quota_of(const std::string& cpu_max) {
  std::istringstream in(cpu_max);
  double quota = 0, period = 0;
  return in >> quota >> period && quota > 0 && period > 0 ? quota / period : 0;
}

MachineLimits look_at_machine() {
  MachineLimits machine{.cpus = static_cast<double>(usable_cores()),
                        .quota_cpus = quota_in_force(),
                        .cores = machine_cores(),
                        .memcpy_bytes_per_s = memcpy_bytes_per_s()};
  if (machine.quota_cpus > 0) machine.cpus = std::min(machine.cpus, machine.quota_cpus);
#ifdef RLIMIT_MEMLOCK
  rlimit limit{};
  if (getrlimit(RLIMIT_MEMLOCK, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
    machine.memlock_bytes = static_cast<int64_t>(limit.rlim_cur);
#endif
  return machine;
}

}  // namespace dataline::cli
