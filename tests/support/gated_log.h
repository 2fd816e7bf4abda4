// A log whose first line holds the thread that writes it until the test lets it go on: an opening stands still, at a place
// that the test knows.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <string>
#include <vector>

#include "capi/dataline.h"

namespace dataline::tests {

class GatedLog {
 public:
  // For options; counts in `destroyed` when nothing needs it any more. Must outlive what has it.
  dl_log table() {
    dl_log table = {};
    table.struct_size = sizeof table;
    table.context = this;
    table.write = [](void* context, int32_t, const char* message, size_t length) {
      static_cast<GatedLog*>(context)->write({message, length});
    };
    table.destroy = [](void* context) { static_cast<GatedLog*>(context)->destroyed.fetch_add(1); };
    return table;
  }
  // Until somebody is held.
  void wait_held() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !lines_.empty(); });
  }
  void let_go() {
    std::lock_guard lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }
  std::vector<std::string> lines() {
    std::lock_guard lock(mutex_);
    return lines_;
  }
  std::atomic<int> destroyed{0};

 private:
  void write(std::string line) {
    std::unique_lock lock(mutex_);
    lines_.push_back(std::move(line));
    changed_.notify_all();
    changed_.wait(lock, [this] { return open_; });
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::string> lines_;
  bool open_ = false;
};

}  // namespace dataline::tests
