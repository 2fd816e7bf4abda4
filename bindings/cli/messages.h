// How the program talks on standard error: set once by main() from the command line, before any thread starts; all but
// line_shown, which any thread may read and change.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <string>
#include <string_view>

namespace dataline::cli {

struct Messages {
  bool quiet = false;                   // no progress, notes or warnings; errors stay
  bool verbose = false;                 // also what was decided, and the library's log
  bool json = false;                    // errors, notes and warnings as lines of JSON
  std::atomic<bool> line_shown{false};  // a progress line stands on the terminal
};

Messages& messages();

// Written before what else comes to a terminal where a progress line stands.
inline constexpr std::string_view kClearLine = "\r\x1b[K";

// The line of a message that is no error: "dataline: TEXT", or {"message": TEXT}. message_text() in text.h escapes it.
std::string message_line(std::string_view text);

// To standard error as it is. A text that cannot be written is lost: nobody is left to be told.
void write_error(std::string_view text) noexcept;

}  // namespace dataline::cli
