// The progress line and the library's log messages, on standard error.
// SPDX-License-Identifier: Apache-2.0
#include "bindings/cli/progress.h"

#include <unistd.h>

#include "bindings/cli/messages.h"
#include "bindings/cli/system.h"
#include "bindings/cli/text.h"

namespace dataline::cli {
namespace {

constexpr std::chrono::milliseconds kInterval{100};

size_t line_columns() {
  const size_t columns = terminal_columns(STDERR_FILENO);
  return columns > 1 ? columns : 80;
}

constexpr std::string_view kClearLine = "\r\x1b[K";

}  // namespace

void Progress::tell(std::string_view message) {
  if (messages().verbose) say(message);
}

bool standard_output_is_terminal() { return isatty(STDOUT_FILENO) == 1; }

Progress::Progress(bool quiet)
    : live_(!quiet && !messages().quiet && !messages().json && isatty(STDERR_FILENO) == 1) {
  log_.struct_size = sizeof(log_);
  log_.context = this;
  log_.write = write_log;
}

bool Progress::due() {
  if (!live_) return false;
  const std::lock_guard lock(mutex_);
  return std::chrono::steady_clock::now() - last_ >= kInterval;
}

void Progress::show(std::string_view line) {
  if (!live_) return;
  const std::lock_guard lock(mutex_);
  last_ = std::chrono::steady_clock::now();
  shown_ = true;
  write_error(std::string(kClearLine) + std::string(line.substr(0, line_columns() - 1)));
}

void Progress::clear() {
  const std::lock_guard lock(mutex_);
  if (shown_) write_error(kClearLine);
  shown_ = false;
}

void Progress::say(std::string_view message) {
  if (messages().quiet) return;
  const std::lock_guard lock(mutex_);
  write_error(std::string(shown_ ? kClearLine : "") + message_line(message));
  shown_ = false;
}

std::vector<std::string> Progress::warnings() {
  const std::lock_guard lock(mutex_);
  return warnings_;
}

void Progress::write_log(void* context, int32_t level, const char* message, size_t length) {
  auto& self = *static_cast<Progress*>(context);
  const std::string_view text(message, length);
  try {
    if (level == DL_LOG_WARNING) {
      self.say(text);
      const std::lock_guard lock(self.mutex_);
      self.warnings_.emplace_back(text);
    }
    if (level == DL_LOG_INFO && messages().verbose) self.say(text);
    if (level == DL_LOG_PROGRESS && self.due()) self.show(without_controls(text));
  } catch (...) {  // no memory for the message; a callback of the library must not throw
  }
}

}  // namespace dataline::cli
