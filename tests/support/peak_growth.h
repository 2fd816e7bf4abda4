// How much memory a piece of a test made the process grow, at its worst.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <fstream>
#include <string>

namespace dataline {

// What a hostile header, text or option may cost before it is refused.
constexpr int64_t kMostGrowthBytes = 16 << 20;

// From its making on. The kernel's high-water mark is set back first, where that is allowed: an earlier peak would hide
// a later one.
class PeakGrowth {
 public:
  PeakGrowth() {
    std::ofstream("/proc/self/clear_refs") << 5;
    before_ = status_bytes("VmHWM:");
  }
  // 0 where it cannot be told: without /proc, and under sanitizers, which keep what was freed.
  int64_t bytes() const {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    return 0;
#else
    return status_bytes("VmHWM:") - before_;
#endif
  }

 private:
  static int64_t status_bytes(const std::string& key) {
    std::ifstream status("/proc/self/status");
    for (std::string word; status >> word;) {
      int64_t kib = 0;
      if (word == key && status >> kib) return kib * 1024;
    }
    return 0;
  }
  int64_t before_ = 0;
};

}  // namespace dataline
