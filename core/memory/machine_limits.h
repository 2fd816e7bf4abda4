// How much memory this process may use: the machine's, or less where a cgroup says so; and what bounds its threads.
// Threads: a plain function; reads small files of the kernel, costs about 100 us.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace dataline {

struct MemoryLimit {
  int64_t bytes = 0;   // > 0
  std::string origin;  // what set it, for messages: "machine" or the file of the cgroup
};

// The least of the machine's RAM and the limits (memory.max and memory.high, or memory.limit_in_bytes) of
// this process's cgroup and of all those above it that can be seen, cgroup v1 and v2, containers with and
// without a cgroup namespace. `root` stands before /proc and /sys, so that tests can show other machines.
MemoryLimit memory_limit(const std::string& root = "");

// The limits that may stand behind a thread that cannot be started, for its message: "ulimit -u 200,
// /sys/fs/cgroup/job/pids.max 64 (64 in use)"; "" when none is set. ulimit -v is in KiB, as shells count it.
std::string thread_limits(const std::string& root = "");

}  // namespace dataline
