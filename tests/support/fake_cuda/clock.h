// Vector clocks: what is known to have happened before what. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>

namespace fake_cuda {

// For each stream, how many of its operations come before.
class Clock {
 public:
  int64_t of(uint32_t stream) const {
    const auto at = known_.find(stream);
    return at == known_.end() ? 0 : at->second;
  }
  void set(uint32_t stream, int64_t sequence) { known_[stream] = sequence; }
  void join(const Clock& other) {
    for (const auto& [stream, sequence] : other.known_) {
      int64_t& mine = known_[stream];
      mine = std::max(mine, sequence);
    }
  }

 private:
  std::map<uint32_t, int64_t> known_;
};

}  // namespace fake_cuda
