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
#include <vector>

#include "bindings/cli/clock.h"
#include "bindings/cli/system.h"

namespace dataline::cli {
namespace {

constexpr size_t kCopyBytes = size_t{32} << 20;
constexpr int kCopies = 4;

// This process's cgroups, by /proc/self/cgroup: lines "id:controllers:path", of version 2 "0::path".
struct OwnGroup {
  std::vector<std::string> mounts;  // where it may be
  std::string path;
};

std::vector<OwnGroup> own_groups(const std::string& root) {
  std::ifstream file(root + "/proc/self/cgroup");
  std::vector<OwnGroup> out;
  for (std::string line; std::getline(file, line);) {
    const size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    const std::string path = line.substr(second + 1);
    if (controllers == ",,")
      out.push_back({{root + "/sys/fs/cgroup", root + "/sys/fs/cgroup/unified"}, path});
    else if (controllers.find(",cpu,") != std::string::npos)
      out.push_back({{root + "/sys/fs/cgroup/cpu", root + "/sys/fs/cgroup/cpu,cpuacct"}, path});
  }
  return out;
}

std::string line_of(const std::string& path) {
  std::ifstream file(path);
  std::string text;
  std::getline(file, text);
  return text;
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

double quota_in_force(const std::string& root) {
  double least = 0;
  const auto take = [&](const std::string& text) {
    const double quota = quota_of(text);
    if (quota > 0 && (least == 0 || quota < least)) least = quota;
  };
  for (const OwnGroup& group : own_groups(root)) {
    for (const std::string& mount : group.mounts) {
      std::string path = group.path == "/" ? "" : group.path;
      while (true) {
        const std::string folder = mount + path;
        take(line_of(folder + "/cpu.max"));
        take(line_of(folder + "/cpu.cfs_quota_us") + " " + line_of(folder + "/cpu.cfs_period_us"));
        if (path.empty()) break;
        path.resize(path.find_last_of('/') == std::string::npos ? 0 : path.find_last_of('/'));
      }
    }
  }
  return least;
}

double usable_cpus() {
  const auto cores = static_cast<double>(usable_cores());
  const double quota = quota_in_force("");
  return quota > 0 ? std::min(cores, quota) : cores;
}

MachineLimits look_at_machine() {
  MachineLimits machine{.cpus = usable_cpus(),
                        .quota_cpus = quota_in_force(""),
                        .cores = machine_cores(),
                        .memcpy_bytes_per_s = memcpy_bytes_per_s()};
#ifdef RLIMIT_MEMLOCK
  rlimit limit{};
  if (getrlimit(RLIMIT_MEMLOCK, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
    machine.memlock_bytes = static_cast<int64_t>(limit.rlim_cur);
#endif
  return machine;
}

}  // namespace dataline::cli
