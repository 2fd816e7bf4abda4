// Aborts a stress test in which nothing happens any more, and prints the loader's statistics. Also: how long such a test runs.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>
#include <thread>

#include "tests/support/job.h"

namespace dataline::tests {

// DATALINE_STRESS_SECONDS, or `everyday`.
inline std::chrono::steady_clock::time_point stress_end(double everyday) {
  const char* given = std::getenv("DATALINE_STRESS_SECONDS");
  const double seconds = given != nullptr ? std::strtod(given, nullptr) : everyday;
  return std::chrono::steady_clock::now() +
         std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::duration<double>(seconds));
}

inline std::string stats_text(const dl_stats& stats) {
  std::string text;
  for (const auto& [name, value] :
       std::initializer_list<std::pair<const char*, int64_t>>{{"num_workers", stats.num_workers},
                                                              {"batches", stats.batches},
                                                              {"samples", stats.samples},
                                                              {"skipped", stats.skipped},
                                                              {"dropped", stats.dropped},
                                                              {"padded", stats.padded},
                                                              {"bad", stats.bad},
                                                              {"lease_copies", stats.lease_copies},
                                                              {"leases_held", stats.leases_held},
                                                              {"ready_batches", stats.ready_batches},
                                                              {"waits", stats.waits}}) {
    text += std::string(text.empty() ? "" : ", ") + name + " " + std::to_string(value);
  }
  return text;
}

// Aborts the program when nothing was reported for `patience`. `what`: told then.
class Watchdog {
 public:
  Watchdog(const Loader& loader, std::string what, std::chrono::seconds patience = std::chrono::seconds(20))
      : loader_(loader.get()), what_(std::move(what)), patience_(patience), thread_([this] { watch(); }) {}
  ~Watchdog() {
    {
      std::lock_guard lock(mutex_);
      over_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  void moved() { moves_.fetch_add(1, std::memory_order_relaxed); }  // a counter, nothing hangs on it

 private:
  void watch() {
    std::unique_lock lock(mutex_);
    for (int64_t seen = -1; !changed_.wait_for(lock, patience_, [this] { return over_; });) {
      const int64_t now = moves_.load(std::memory_order_relaxed);
      if (now == seen) {
        std::fprintf(stderr, "no call has returned for %lld s: %s\n",
                     static_cast<long long>(patience_.count()), what_.c_str());
        std::fprintf(stderr, "%s\n", stats_text(stats_of_raw()).c_str());
        std::abort();
      }
      seen = now;
    }
  }
  dl_stats stats_of_raw() const {
    dl_stats stats = {};
    stats.struct_size = sizeof stats;
    if (dl_loader_stats(loader_, &stats, nullptr) != DL_OK) std::fprintf(stderr, "no stats\n");
    return stats;
  }

  const dl_loader* loader_;
  std::string what_;
  std::chrono::seconds patience_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool over_ = false;
  std::atomic<int64_t> moves_{0};
  std::thread thread_;
};

}  // namespace dataline::tests
