// How much memory this process may use: the machine's, or less in a cgroup; and the limits on its threads.
// Threads: a plain function; reads small files of the kernel, costs about 100 us.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace dataline {

struct MemoryLimit {
  int64_t bytes = 0;   // > 0
  std::string origin;  // for messages: "machine" or the cgroup file that set it
};

// The minimum of the machine's RAM and the limits (memory.max and memory.high, or memory.limit_in_bytes) of this
// process's cgroup and its visible ancestors, for cgroup v1 and v2, in containers with and without a cgroup namespace.
// `root` is prepended to /proc and /sys, so that tests can fake machines.
MemoryLimit memory_limit(const std::string& root = "");

// The limits that may explain why a thread could not be started, for the message: "ulimit -u 200,
// /sys/fs/cgroup/job/pids.max 64 (64 in use)"; "" when none is set. ulimit -v is in KiB, as shells print it.
std::string thread_limits(const std::string& root = "");

}  // namespace dataline
