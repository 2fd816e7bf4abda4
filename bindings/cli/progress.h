// One live line on standard error, only where that is a terminal; and the library's remarks.
// Threads: any thread (the library logs from its own).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <dataline.h>

#include <chrono>
#include <mutex>
#include <string>
#include <string_view>

namespace dataline::cli {

class Progress {
 public:
  // `quiet`: no live line even on a terminal, as when the same terminal shows the output.
  explicit Progress(bool quiet = false);
  ~Progress() { clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  bool due();  // it is a terminal and the last line is a while ago
  void show(std::string_view line);
  void clear();
  void say(std::string_view message);  // "dataline: message" for good

  // For dl_options_set_log: warnings are said, progress is shown.
  const dl_log* log() const { return &log_; }

 private:
  static void write_log(int32_t level, const char* message, size_t length, void* context);

  const bool live_;
  std::mutex mutex_;
  bool shown_ = false;
  std::chrono::steady_clock::time_point last_{};
  dl_log log_{};
};

bool standard_output_is_terminal();

}  // namespace dataline::cli
