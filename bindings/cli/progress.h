// A progress line on standard error, if that is a terminal that can rewrite a line (TERM is not "dumb"); and the library's log
// messages. Each line is as wide as the terminal is at that moment.
// Threads: any thread (the library logs from its own).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <dataline.h>

#include <chrono>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "bindings/cli/live_line.h"

namespace dataline::cli {

class Progress {
 public:
  // `quiet`: no progress line, because the same terminal shows the output.
  explicit Progress(bool quiet = false);
  ~Progress() { clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  bool live() const { return live_; }  // whether lines are shown at all
  bool due();                          // time for the next line; false if not live
  void show(std::string_view line);
  void show(const LiveLine& line);
  void clear();
  void say(std::string_view message);   // a line that stays: "dataline: message"; none with --quiet
  void tell(std::string_view message);  // the same with --verbose alone

  // For dl_options_set_log: prints warnings, each once, and keeps them; shows progress.
  const dl_log* log() const { return &log_; }
  std::vector<std::string> warnings();
  // The command itself prints what the dataset lacks: warnings of it are not printed too.
  void leave_losses_to_command() { prints_losses_ = false; }

  static constexpr std::chrono::milliseconds kInterval{100};  // between lines

 private:
  void draw(const std::string& line);   // with mutex_ held
  bool keep(std::string_view warning);  // false: it was said before
  static void write_log(void* context, int32_t level, const char* message, size_t length);

  const bool live_;
  std::mutex mutex_;
  bool prints_losses_ = true;          // set before a dataset is opened
  std::vector<std::string> warnings_;  // in the order in which they came
  std::unordered_set<std::string> kept_;
  std::chrono::steady_clock::time_point last_{};
  dl_log log_{};
};

bool standard_output_is_terminal();

}  // namespace dataline::cli
