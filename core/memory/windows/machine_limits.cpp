// The machine's own limits; those of a job object are not read.
// SPDX-License-Identifier: Apache-2.0
#include "core/memory/machine_limits.h"

#include <windows.h>

#include <algorithm>
#include <bit>
#include <limits>

namespace dataline {

MemoryLimit memory_limit(const std::string&) {
  MEMORYSTATUSEX status;
  status.dwLength = sizeof status;
  if (GlobalMemoryStatusEx(&status) == 0 || status.ullTotalPhys == 0)
    return {std::numeric_limits<int64_t>::max(), "unknown"};
  return {static_cast<int64_t>(status.ullTotalPhys), "machine"};
}

int32_t quota_cpus(const std::string&) { return 0; }

int32_t available_cpus() {
  DWORD_PTR mine = 0, all = 0;
  // Both are 0 for a process whose threads run in several groups of 64 processors.
  if (GetProcessAffinityMask(GetCurrentProcess(), &mine, &all) != 0 && mine != 0)
    return std::popcount(static_cast<uint64_t>(mine));
  return std::max(static_cast<int32_t>(GetActiveProcessorCount(ALL_PROCESSOR_GROUPS)), 1);
}

bool can_open_files(int64_t) { return true; }

std::string thread_limits(const std::string&) { return ""; }

}  // namespace dataline
