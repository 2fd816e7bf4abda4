// SPDX-License-Identifier: Apache-2.0
#include "core/memory/machine_limits.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/atomic.h"
#include "core/base/checked.h"
#include "core/base/text.h"
#include "core/memory/file.h"

namespace dataline {
namespace {

// The mount of a cgroup hierarchy that has the wanted controller: `memory`, `cpu` or `pids`.
struct Hierarchy {
  bool version2 = false;
  std::string root;   // the cgroup that the mount shows, "/" for all
  std::string mount;  // the mount point, without `root`
};

// mountinfo escapes whitespace and backslashes of paths as \ooo.
std::string unescape(std::string_view text) {
  auto octal = [](char c) { return c >= '0' && c <= '7'; };
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 3 < text.size() && octal(text[i + 1]) && octal(text[i + 2]) &&
        octal(text[i + 3])) {
      out += static_cast<char>((text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 + (text[i + 3] - '0'));
      i += 3;
    } else {
      out += text[i];
    }
  }
  return out;
}

bool lists(std::string_view words, std::string_view word) {
  for (std::string_view part : split(words, ',')) {
    if (part == word) return true;
  }
  return false;
}

// A mountinfo line: id parent dev root mount options [fields] - type source super-options
std::optional<Hierarchy> parse_mount(std::string_view line, std::string_view controller) {
  size_t dash = line.find(" - ");
  if (dash == std::string_view::npos) return std::nullopt;
  std::vector<std::string_view> front = split(line.substr(0, dash), ' ');
  std::vector<std::string_view> back = split(line.substr(dash + 3), ' ');
  if (front.size() < 6 || back.size() < 3) return std::nullopt;
  bool version2 = back[0] == "cgroup2";
  if (!version2 && !(back[0] == "cgroup" && lists(back[2], controller))) return std::nullopt;
  return Hierarchy{version2, unescape(front[3]), unescape(front[4])};
}

std::vector<Hierarchy> find_hierarchies(const std::string& root, std::string_view controller) {
  std::vector<Hierarchy> found;
  std::optional<std::string> mounts = read_kernel_file(root + "/proc/self/mountinfo");
  if (mounts) {
    for (std::string_view line : split(*mounts, '\n')) {
      if (std::optional<Hierarchy> hierarchy = parse_mount(line, controller))
        found.push_back(std::move(*hierarchy));
    }
  } else {
    found = {{true, "/", "/sys/fs/cgroup"}, {false, "/", concat("/sys/fs/cgroup/", controller)}};
  }
  return found;
}

// This process's cgroup in /proc/self/cgroup: lines "id:controllers:path", "0::path" for version 2.
std::string own_cgroup(std::string_view text, bool version2, std::string_view controller) {
  for (std::string_view line : split(text, '\n')) {
    size_t first = line.find(':');
    size_t second = first == std::string_view::npos ? first : line.find(':', first + 1);
    if (second == std::string_view::npos) continue;
    std::string_view controllers = line.substr(first + 1, second - first - 1);
    if (version2 ? (line.substr(0, first) == "0" && controllers.empty()) : lists(controllers, controller)) {
      return std::string(line.substr(second + 1));
    }
  }
  return "/";
}

// The cgroup's path below the mount: "" when it is the mount's root or outside the mount (in a container without a
// cgroup namespace the mount's root is the container's own group).
std::string path_below(const std::string& cgroup, const std::string& mount_root) {
  std::string_view prefix = mount_root == "/" ? std::string_view() : mount_root;
  if (!cgroup.starts_with(prefix)) return "";
  std::string below = cgroup.substr(prefix.size());
  if (below.empty() || below[0] != '/' || below.find("/..") != std::string::npos) return "";
  return below == "/" ? "" : below;
}

// The number in a cgroup file, if any: "max", and v1's "no limit" above 2^63, are none.
std::optional<int64_t> read_limit(const std::string& path) {
  std::optional<int64_t> limit = read_kernel_number(path);
  return limit && *limit > 0 ? limit : std::nullopt;
}

void lower(MemoryLimit& limit, const std::string& root, const std::string& file) {
  std::optional<int64_t> bytes = read_limit(root + file);
  if (bytes && *bytes < limit.bytes) limit = {*bytes, file};
}

// Calls visit(version2, folder) for this process's cgroup and its visible ancestors, from the bottom up.
template <typename Visit>
void each_cgroup(const std::string& root, std::string_view controller, Visit visit) {
  std::string cgroups = read_kernel_file(root + "/proc/self/cgroup").value_or("");
  for (const Hierarchy& hierarchy : find_hierarchies(root, controller)) {
    std::string below = path_below(own_cgroup(cgroups, hierarchy.version2, controller), hierarchy.root);
    while (true) {
      visit(hierarchy.version2, hierarchy.mount + below);
      if (below.empty()) break;
      below.resize(below.rfind('/'));
    }
  }
}

MemoryLimit machine_memory(const std::string& root) {
  std::optional<std::string> text = read_kernel_file(root + "/proc/meminfo");
  constexpr std::string_view kKey = "MemTotal:";
  size_t at = text ? text->find(kKey) : std::string::npos;
  if (at != std::string::npos) {
    std::string_view line = std::string_view(*text).substr(at + kKey.size());
    line = trim(line.substr(0, line.find('\n')));
    if (line.ends_with(" kB")) line.remove_suffix(3);
    std::optional<int64_t> kib = parse_i64(trim(line));
    std::optional<int64_t> bytes = kib ? checked_multiply(*kib, 1024) : std::nullopt;
    if (bytes && *bytes > 0) return {*bytes, "machine"};
  }
#ifdef _SC_PHYS_PAGES
  int64_t pages = static_cast<int64_t>(::sysconf(_SC_PHYS_PAGES));
  std::optional<int64_t> bytes = checked_multiply(pages, static_cast<int64_t>(::sysconf(_SC_PAGESIZE)));
  if (bytes && *bytes > 0) return {*bytes, "machine"};
#endif
  return {std::numeric_limits<int64_t>::max(), "unknown"};
}

}  // namespace

MemoryLimit memory_limit(const std::string& root) {
  MemoryLimit limit = machine_memory(root);
  each_cgroup(root, "memory", [&](bool version2, const std::string& folder) {
    if (version2) {
      lower(limit, root, folder + "/memory.max");
      lower(limit, root, folder + "/memory.high");
    } else {
      lower(limit, root, folder + "/memory.limit_in_bytes");
    }
  });
  return limit;
}

int32_t quota_cpus(const std::string& root) {
  constexpr int64_t kMost = 1 << 20;
  int64_t least = kMost + 1;
  each_cgroup(root, "cpu", [&](bool version2, const std::string& folder) {
    std::optional<int64_t> quota, period;
    if (version2) {  // "max 100000" or "50000 100000"
      const std::string text = read_kernel_file(root + folder + "/cpu.max").value_or("");
      const std::string_view line = std::string_view(text).substr(0, text.find('\n'));
      const size_t blank = std::min(line.find(' '), line.size());
      quota = parse_i64(line.substr(0, blank));
      period = parse_i64(trim(line.substr(blank)));
    } else {
      quota = read_kernel_number(root + folder + "/cpu.cfs_quota_us");
      period = read_kernel_number(root + folder + "/cpu.cfs_period_us");
    }
    if (quota.value_or(0) <= 0 || period.value_or(0) <= 0) return;
    // Rounded up without adding: the quota may be near 2^63.
    const int64_t cpus = *quota / *period + (*quota % *period != 0 ? 1 : 0);
    least = std::min({least, cpus, kMost});
  });
  return least > kMost ? 0 : static_cast<int32_t>(least);
}

#if defined(DATALINE_INTERLEAVE)
int32_t available_cpus() { return interleave::cpus(); }
#else
int32_t available_cpus() {
  auto cpus = static_cast<int32_t>(std::max<long>(::sysconf(_SC_NPROCESSORS_ONLN), 1));
#if defined(__linux__)
  cpu_set_t mask;
  if (::sched_getaffinity(0, sizeof mask, &mask) == 0) cpus = std::max(CPU_COUNT(&mask), 1);
#endif
  const int32_t quota = quota_cpus();
  return quota > 0 ? std::min(cpus, quota) : cpus;
}
#endif

// From the largest number down: descriptors in use have the lowest ones.
bool can_open_files(int64_t count) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return true;
  constexpr rlim_t kMax = std::numeric_limits<int>::max();
  for (auto number = static_cast<int>(std::min(limit.rlim_cur, kMax)); count > 0 && number > 0;)
    if (::fcntl(--number, F_GETFD) < 0) --count;
  return count <= 0;
}

std::string thread_limits(const std::string& root) {
  std::string text;
  auto add = [&](const auto&... parts) { text += concat(text.empty() ? "" : ", ", parts...); };
  auto resource = [&](int which, std::string_view name, rlim_t unit) {
    rlimit limit{};
    if (::getrlimit(which, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
      add(name, " ", limit.rlim_cur / unit);
  };
#ifdef RLIMIT_NPROC
  resource(RLIMIT_NPROC, "ulimit -u", 1);
#endif
  resource(RLIMIT_AS, "ulimit -v", 1024);
  each_cgroup(root, "pids", [&](bool, const std::string& folder) {
    if (std::optional<int64_t> limit = read_limit(root + folder + "/pids.max"); limit) {
      std::optional<int64_t> now = read_limit(root + folder + "/pids.current");
      add(folder, "/pids.max ", *limit, now ? concat(" (", *now, " in use)") : std::string());
    }
  });
  return text;
}

}  // namespace dataline
