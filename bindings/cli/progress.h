// A progress line on standard error, if that is a terminal; and the library's log messages.
// Threads: any thread (the library logs from its own).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <dataline.h>

#include <chrono>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace dataline::cli {

class Progress {
 public:
  // `quiet`: no progress line, because the same terminal shows the output.
  explicit Progress(bool quiet = false);
  ~Progress() { clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  bool due();  // time for the next line; false if not a terminal
  void show(std::string_view line);
  void clear();
  void say(std::string_view message);   // a line that stays: "dataline: message"; none with --quiet
  void tell(std::string_view message);  // the same with --verbose alone

  // For dl_options_set_log: prints warnings and keeps them, shows progress.
  const dl_log* log() const { return &log_; }
  std::vector<std::string> warnings();

 private:
  static void write_log(void* context, int32_t level, const char* message, size_t length);

  const bool live_;
  std::mutex mutex_;
  bool shown_ = false;
  std::vector<std::string> warnings_;
  std::chrono::steady_clock::time_point last_{};
  dl_log log_{};
};

bool standard_output_is_terminal();

}  // namespace dataline::cli
