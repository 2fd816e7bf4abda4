// How many CPUs this process is granted: the affinity mask and the cgroup quota, of both versions.
// SPDX-License-Identifier: Apache-2.0
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>

#include "core/base/atomic.h"
#include "core/base/text.h"
#include "core/base/thread.h"

namespace dataline {
namespace {

std::string read_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

// CPUs by one cgroup's quota, rounded up; 0: no quota.
int32_t quota_cpus(int64_t quota_us, int64_t period_us) {
  if (quota_us <= 0 || period_us <= 0) return 0;
  const int64_t whole = quota_us / period_us;  // rounded up without adding: the quota may be near 2^63
  return static_cast<int32_t>(std::min<int64_t>(whole + (quota_us % period_us != 0 ? 1 : 0), 1 << 20));
}

int32_t version2_cpus(const std::string& folder) {
  std::istringstream line(read_line(folder + "/cpu.max"));  // "max 100000" or "50000 100000"
  std::string quota, period;
  line >> quota >> period;
  return quota_cpus(parse_i64(quota).value_or(0), parse_i64(period).value_or(0));
}

int32_t version1_cpus(const std::string& folder) {
  return quota_cpus(parse_i64(read_line(folder + "/cpu.cfs_quota_us")).value_or(0),
                    parse_i64(read_line(folder + "/cpu.cfs_period_us")).value_or(0));
}

// The smallest quota from a group up to the root: a parent's quota binds its children.
template <typename Read>
int32_t tightest(const std::string& mount, std::string group, Read read) {
  int32_t least = 0;
  for (;;) {
    int32_t cpus = read(mount + group);
    if (cpus > 0 && (least == 0 || cpus < least)) least = cpus;
    if (group.empty() || group == "/") return least;
    const size_t slash = group.rfind('/');
    group.resize(slash == std::string::npos ? 0 : slash);
  }
}

}  // namespace

int32_t cgroup_cpus(const std::string& root) {
  int32_t least = 0;
  std::ifstream groups(root + "/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    std::vector<std::string_view> parts = split(line, ':');  // "0::/a/b" or "4:cpu,cpuacct:/a/b"
    if (parts.size() < 3) continue;
    std::string group(line.substr(parts[0].size() + parts[1].size() + 2));
    int32_t cpus = 0;
    if (parts[1].empty()) {
      cpus = tightest(root + "/sys/fs/cgroup", group, version2_cpus);
    } else {
      std::vector<std::string_view> controllers = split(parts[1], ',');
      if (std::find(controllers.begin(), controllers.end(), "cpu") == controllers.end()) continue;
      cpus = tightest(root + "/sys/fs/cgroup/cpu", group, version1_cpus);
    }
    if (cpus > 0 && (least == 0 || cpus < least)) least = cpus;
  }
  return least;
}

#if defined(DATALINE_INTERLEAVE)
int32_t available_cpus() { return interleave::cpus(); }
#else
int32_t available_cpus() {
  int32_t cpus = static_cast<int32_t>(std::max<long>(sysconf(_SC_NPROCESSORS_ONLN), 1));
#if defined(__linux__)
  cpu_set_t mask;
  if (sched_getaffinity(0, sizeof mask, &mask) == 0) cpus = std::max(CPU_COUNT(&mask), 1);
#endif
  int32_t quota = cgroup_cpus("");
  return quota > 0 ? std::min(cpus, quota) : cpus;
}
#endif

}  // namespace dataline
