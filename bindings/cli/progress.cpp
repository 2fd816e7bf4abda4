// The progress line and the library's log messages, on standard error.
// SPDX-License-Identifier: Apache-2.0
#include "bindings/cli/progress.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "bindings/cli/handles.h"
#include "bindings/cli/messages.h"
#include "bindings/cli/system.h"
#include "bindings/cli/text.h"

namespace dataline::cli {
namespace {

// The last column stays free: some terminals go to the next line when it is written.
size_t line_columns() {
  const size_t columns = terminal_columns(STDERR_FILENO);
  return (columns > 1 ? columns : 80) - 1;
}

bool can_rewrite_a_line() {
  const char* const terminal = std::getenv("TERM");
  return terminal == nullptr || std::string_view(terminal) != "dumb";
}

}  // namespace

void Progress::tell(std::string_view message) {
  if (messages().verbose) say(message);
}

bool standard_output_is_terminal() { return isatty(STDOUT_FILENO) == 1; }

Progress::Progress(bool quiet)
    : live_(!quiet && !messages().quiet && !messages().json && isatty(STDERR_FILENO) == 1 &&
            can_rewrite_a_line()) {
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
  draw(std::string(cut_to_columns(line, line_columns())));
}

void Progress::show(const LiveLine& line) {
  if (!live_) return;
  const std::lock_guard lock(mutex_);
  draw(live_text(line, line_columns(), locale_is_utf8()));
}

void Progress::draw(const std::string& line) {
  last_ = std::chrono::steady_clock::now();
  messages().line_shown = true;
  write_error(std::string(kClearLine) + line);
}

void Progress::clear() {
  const std::lock_guard lock(mutex_);
  if (messages().line_shown.exchange(false)) write_error(kClearLine);
}

void Progress::say(std::string_view message) {
  if (messages().quiet) return;
  const std::lock_guard lock(mutex_);
  const bool shown = messages().line_shown.exchange(false);
  write_error(std::string(shown ? kClearLine : "") + message_line(message));
}

std::vector<std::string> Progress::warnings() {
  const std::lock_guard lock(mutex_);
  return warnings_;
}

bool Progress::keep(std::string_view warning) {
  const std::lock_guard lock(mutex_);
  const auto [at, added] = kept_.emplace(warning);
  if (added) warnings_.push_back(*at);
  return added;
}

void Progress::write_log(void* context, int32_t level, const char* message, size_t length) {
  auto& self = *static_cast<Progress*>(context);
  const std::string_view text(message, length);
  try {
    const bool printed = self.prints_losses_ || !is_loss(text);
    if (level == DL_LOG_WARNING && self.keep(text) && printed) self.say(text);
    if (level == DL_LOG_INFO && messages().verbose) self.say(text);
    if (level == DL_LOG_PROGRESS && self.due()) self.show(message_text(text));
  } catch (...) {  // no memory for the message; a callback of the library must not throw
  }
}

}  // namespace dataline::cli
