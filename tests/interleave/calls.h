// What the scenarios share: options by draws, and batches that are on their way back.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/thread_mutex.h"
#include "tests/interleave/job.h"

namespace dataline::interleave {

constexpr int64_t kMilliNs = 1'000'000;

inline std::string code_text(const Status& status) {
  return std::string(code_name(status.code())) + " " + status.message();
}

inline Config any_config(Draws& draws) {
  Config config;
  config.workers = draws.from(0, 3);
  config.depth = draws.from(1, 3);
  config.leases = draws.from(1, 3);
  config.batch = draws.from(1, 3);
  config.samples = draws.from(3, 9);
  config.cpus = static_cast<int32_t>(draws.from(1, 4));
  config.last = draws.one_in(3) ? "drop" : "keep";
  config.shuffle = draws.one_in(3) ? "full" : "none";
  config.overflow = draws.one_in(2) ? "copy" : draws.one_in(2) ? "wait" : "error";
  config.host_reader = draws.one_in(4);
  return config;
}

inline Config with_device(Config config, Draws& draws) {
  config.device = "cuda";
  config.sync = draws.one_in(2) ? "host" : "stream";
  config.waits_fail = draws.one_in(4);
  return config;
}

// Batches given back by another thread than the one that took them.
class Returns {
 public:
  void give(Batch* batch) {
    ThreadLock lock(mutex_);
    held_.push_back(batch);
  }
  // The batch must still be what it was.
  bool release_one(const Job& job, bool any_indices) {
    ThreadLock lock(mutex_);
    if (held_.empty()) return false;
    const size_t at = draw(held_.size());
    Batch* const batch = held_[at];
    held_.erase(held_.begin() + static_cast<std::ptrdiff_t>(at));
    lock.unlock();
    job.check(*batch, 0, any_indices);
    batch->release();
    return true;
  }
  int64_t count() {
    ThreadLock lock(mutex_);
    return static_cast<int64_t>(held_.size());
  }

 private:
  ThreadMutex mutex_;
  std::vector<Batch*> held_ DL_GUARDED_BY(mutex_);
};

// The scenarios: what each does stands in the table of scenarios.cpp.
void alone(Job& job);
Config alone_config(Draws& draws);
Config bad_config(Draws& draws);
Config lost_config(Draws& draws);
Config alone_device_config(Draws& draws);
void together(Job& job);
Config together_config(Draws& draws);
Config rivals_config(Draws& draws);
void moves(Job& job);
Config moves_config(Draws& draws);
void loops(Job& job);
Config loops_config(Draws& draws);
void waits(Job& job);
Config waits_config(Draws& draws);

}  // namespace dataline::interleave
