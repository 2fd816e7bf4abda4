// How much of the machine this process may use, or less in a cgroup: memory, CPUs, threads.
// Threads: plain functions that read small files of the kernel, about 100 us each.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace dataline {

struct MemoryLimit {
  int64_t bytes = 0;   // > 0
  std::string origin;  // for messages: "machine" or the cgroup file that set it
};

// All look at this process's cgroup and its visible ancestors, for cgroup v1 and v2, in containers with and without a
// cgroup namespace. `root` is prepended to /proc and /sys, so that tests can fake machines.

// The minimum of the machine's RAM and the limits (memory.max and memory.high, or memory.limit_in_bytes).
MemoryLimit memory_limit(const std::string& root = "");

// CPUs this process may use: the minimum of its affinity mask and of quota_cpus(), at least 1.
int32_t available_cpus();
// By the tightest cgroup quota (cpu.max, or cpu.cfs_quota_us), rounded up; 0: no quota.
int32_t quota_cpus(const std::string& root = "");

// Whether this process may open so many more files: by RLIMIT_NOFILE and the descriptors in use. It opens none to find out, and takes
// about `count` calls of fcntl(). Windows: true.
bool can_open_files(int64_t count);

// The limits that may explain why a thread could not be started, for the message: "ulimit -u 200,
// /sys/fs/cgroup/job/pids.max 64 (64 in use)"; "" when none is set. ulimit -v is in KiB, as shells print it.
std::string thread_limits(const std::string& root = "");

}  // namespace dataline
