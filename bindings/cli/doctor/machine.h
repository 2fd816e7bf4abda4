// What this machine grants this process.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "bindings/cli/doctor/findings.h"

namespace dataline::cli {

double usable_cpus();  // by this process: affinity, and the quota of its cgroup

MachineLimits look_at_machine();  // takes some tens of milliseconds: it copies memory

// CPUs of "max 100000" or "50000 100000", cgroup v2's cpu.max; 0: no limit, or not of that form.
double quota_of(const std::string& cpu_max);

// The least quota from this process's cgroup up to the root, of version 2 and 1 (cpu.cfs_quota_us); 0: none. `root`: "", or where a
// test has files.
double quota_in_force(const std::string& root);

}  // namespace dataline::cli
